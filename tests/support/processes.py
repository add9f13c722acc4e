"""Processes that tests start."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(arguments: Sequence[str], **options: Any) -> Generator[subprocess.Popen[str]]:
    """A process with text on its pipes. It is killed when the block ends, for `Popen` alone would wait for one that does
    not end, and a failed test would hang instead of saying what failed.
    """
    with subprocess.Popen(arguments, text=True, encoding="utf-8", **options) as process:
        try:
            yield process
        finally:
            process.kill()
