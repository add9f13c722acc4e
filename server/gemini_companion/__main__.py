"""`gemini-companion` and `python -m gemini_companion`."""

from __future__ import annotations

import os
import sys

from gemini_companion.modules_on_demand import install


def main() -> int:
    """Run the command line; the way to `serve` loads nothing that it does not need. Returns the exit code."""
    install()
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
