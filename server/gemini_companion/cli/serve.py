"""`gemini-companion serve` with logging options."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.wiring import serve_stdio


def serve(env: Mapping[str, str], *, log_file: str | None, log_level: str) -> int:
    """Serve one editor over stdin and stdout; the log goes to a file or to stderr. Returns the exit code.

    Raises `InvalidInput` if the log file cannot be written.
    """
    level = getattr(logging, log_level.upper())
    layout = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    try:
        if log_file:
            logging.basicConfig(level=level, filename=log_file, encoding="utf-8", format=layout)
        else:
            logging.basicConfig(level=level, stream=sys.stderr, format=layout)
    except OSError as error:
        raise InvalidInput(f"The log file {log_file} cannot be written: {error.strerror or error}.") from None
    return serve_stdio(env)
