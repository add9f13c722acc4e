"""`gemini-companion` and `python -m gemini_companion`."""

from __future__ import annotations

import os
import sys
from typing import Final

from gemini_companion.modules_on_demand import install

SWITCH_SECONDS: Final = 0.0005
"""After so long a thread that works gives the interpreter to one that waits for it; by default ten times that.

The event loop waits for it each time that it has slept: beside a compression and an import, the 99th percentile between
two deltas of fifty chats falls from 87 to 58 ms with this, and the processor's time is the same (`tests.performance`,
streams).
"""


def share_interpreter() -> None:
    """Have threads that work hold up the event loop as little as may be."""
    sys.setswitchinterval(SWITCH_SECONDS)


def main() -> int:
    """Run the command line; the way to `serve` loads nothing that it does not need. Returns the exit code."""
    install()
    share_interpreter()
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were being loaded: a command that runs ends in order, in `cli.main`
        sys.stderr.write("gemini-companion: Interrupted.\n")
        return 130


def _run(arguments: list[str]) -> int:
    if arguments == ["serve"] or arguments == ["serve", "--stdio"]:
        from gemini_companion.protocol.loading import loading

        with loading():
            from gemini_companion.wiring.daemon import serve_stdio
        return serve_stdio(os.environ)
    from gemini_companion.cli.main import run

    return run(arguments, os.environ)


if __name__ == "__main__":
    sys.exit(main())
