"""`python -m tests.chaos [--minutes M] [--seed N]`: exit code 1 if anything happened that must not."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the closing table. Returns the exit code."""
    from tests.chaos.run import run

    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos", description="A soak and chaos run of the real daemon against the emulated API."
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long; 10 by default")
    parser.add_argument("--seed", type=int, help="a seed that was printed before; any by default")
    asked = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    print(f"seed {seed}, {asked.minutes:g} minutes", file=sys.stderr, flush=True)
    with TemporaryDirectory(prefix="companion-chaos-", ignore_cleanup_errors=True) as scratch:
        report = asyncio.run(run(seed, asked.minutes, Path(scratch)))
    print(report.text(), flush=True)
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
