"""`gemini-companion serve` with logging options."""

from __future__ import annotations

import logging
import os
import stat
import sys
import threading
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
    try:
        handler = logging.StreamHandler(_private_log(log_file) if log_file else sys.stderr)
    except OSError as error:
        raise InvalidInput(f"The log file {log_file} cannot be written: {error.strerror or error}.") from None
    handler.setFormatter(_Masking("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    threading.excepthook = _log_of_thread
    return serve_stdio(env, _layer_of(settings), os.path.abspath(log_file) if log_file else None)


class _Masking(logging.Formatter):
    """Lines without secrets, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        from gemini_companion.engine.redaction import mask  # slow, and seldom needed

        return mask(super().format(record))


def _log_of_thread(args: threading.ExceptHookArgs) -> None:
    """What ends a thread goes the way of everything else that is logged, not straight to stderr."""
    if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
        found = (args.exc_type, args.exc_value, args.exc_traceback)
        logging.getLogger("gemini_companion").error("A thread ended unexpectedly.", exc_info=found)


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
