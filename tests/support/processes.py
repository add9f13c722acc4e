"""Processes that tests start."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.patience import PATIENCE


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


def is_running(pid: int) -> bool:
    """True if the process exists and is not merely waiting to be reaped."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] not in "ZX"
    return False


async def until_gone(pid: int) -> None:
    """Wait for its end: one that was killed is still there until the system gives it its turn to go."""
    async with asyncio.timeout(PATIENCE):
        while is_running(pid):
            await asyncio.sleep(0)
