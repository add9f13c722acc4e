"""The tool: `python -m tests.fuzz --frames 1000000 --files 100000 --seed 1 [--only KIND …]`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from tests.fuzz.kinds import KINDS
from tests.fuzz.running import run

HANG_MS = 200.0
GROWTH = 16 * 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all kinds and print a line for each. Returns 1 if one crashed, hung or grew."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Mutated input for everything that is decoded."
    )
    parser.add_argument("--frames", type=int, default=10_000, help="how many messages of a client")
    parser.add_argument("--files", type=int, default=1_000, help="how many of every other kind")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs")
    parser.add_argument("--only", action="append", choices=[kind.name for kind in KINDS], help="may be repeated")
    asked = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    is_sound = True
    for kind in KINDS:
        if asked.only and kind.name not in asked.only:
            continue
        outcome = run(kind, asked.frames if kind.is_frame else asked.files, asked.seed, _tell)
        print(outcome.line(), flush=True)
        is_sound = is_sound and not outcome.crashes and outcome.slowest < HANG_MS and outcome.growth < GROWTH
    return 0 if is_sound else 1


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
