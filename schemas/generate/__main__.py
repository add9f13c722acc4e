"""`python -m schemas.generate` writes the stale files; with `--check` it only names them."""

from __future__ import annotations

import argparse
import sys

from schemas.generate.outputs import OUTPUTS, stale, write


def main() -> int:
    """Run the command. Returns 1 if `--check` found a stale file, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m schemas.generate", description="Generate the schemas and the TypeScript types."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    if parser.parse_args().check:
        found = stale()
        for path in found:
            print(f"stale: {path} (run: python -m schemas.generate)", file=sys.stderr)
        return 1 if found else 0
    written = write()
    for path in OUTPUTS:
        print(f"{'written' if path in written else 'unchanged'}: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
