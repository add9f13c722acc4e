"""`gemini-companion serve` with logging options."""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.wiring.daemon import serve_stdio


def serve(env: Mapping[str, str], *, log_file: str | None, log_level: str, settings: Sequence[str] = ()) -> int:
    """Serve one editor over stdin and stdout; the log goes to a file or to stderr. Returns the exit code.

    `settings` are texts such as `model.name=offline`. Raises `InvalidInput` if the log file cannot be written or there
    is no such setting, `InvalidSettings` for a value that does not fit.
    """
    level = getattr(logging, log_level.upper())
    layout = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    try:
        stream = _private_log(log_file) if log_file else sys.stderr
        logging.basicConfig(level=level, stream=stream, format=layout)
    except OSError as error:
        raise InvalidInput(f"The log file {log_file} cannot be written: {error.strerror or error}.") from None
    return serve_stdio(env, _layer_of(settings), os.path.abspath(log_file) if log_file else None)


def _layer_of(settings: Sequence[str]) -> dict[str, Any]:
    if not settings:
        return {}
    from gemini_companion.cli.config import command_line_of  # slow, and seldom needed

    return command_line_of(settings)


def _private_log(path: str) -> TextIO:
    """The file, opened to append, and closed to others as far as it is a plain file. Raises `OSError`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
        return open(descriptor, "a", encoding="utf-8", errors="backslashreplace")
    except BaseException:
        os.close(descriptor)
        raise
