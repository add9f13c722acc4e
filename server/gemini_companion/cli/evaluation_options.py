"""The options of `gemini-companion eval`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from gemini_companion.engine.history.verdict import DEFAULT_STRATEGY


def add_evaluation_options(parser: argparse.ArgumentParser, count: Callable[[str], int]) -> None:
    """Add them to a parser. `count` reads a number from 1 on."""
    parser.add_argument(
        "corpus",
        metavar="CORPUS",
        nargs="*",
        help="folders of conversations: {history, gold?}, contents, exported sessions; some are built in",
    )
    parser.add_argument("--arms", metavar="A,B", default="full,prompt-only,gemini-cli", help="what is compared")
    parser.add_argument(
        "--strategies", metavar="A,B", default=DEFAULT_STRATEGY, help="strategies of the product's arms"
    )
    parser.add_argument(
        "--summarisers",
        metavar="A,B",
        default="empty,offline",
        help="empty, offline, oracle, lossy(P), terse(N), adversarial, broken, slow(N), recorded:FILE, live:MODEL",
    )
    parser.add_argument(
        "--measure",
        metavar="A,B",
        help="labels, needed, planted; else the labels where there are any, and what is needed next elsewhere",
    )
    parser.add_argument(
        "--seeds", metavar="N", type=count, default=2, help="what is planted, where, and what gets lost"
    )
    parser.add_argument("--replicates", metavar="N", type=count, default=1, help="runs of each seed, with other losses")
    parser.add_argument(
        "--passes", metavar="N,M", default="1,5", help="after how many compressions; the last ends a run"
    )
    parser.add_argument("--sample", metavar="N", type=count, help="only so many conversations of each folder")
    parser.add_argument("--processes", metavar="N", type=count, default=1, help="run over so many processes")
    parser.add_argument("--ray", metavar="ADDRESS", help="run on a Ray cluster; `local` starts one here")
    parser.add_argument("--out", metavar="FOLDER", help="write report.html, results.json and each run's result there")
    parser.add_argument("--resume", action="store_true", help="take the results that are in FOLDER already")
    parser.add_argument("--recall", action="store_true", help="measure recall too, on the corpus's questions")
    parser.add_argument("--table", metavar="FILE", help="write the table of strategies between the markers of FILE")
    parser.add_argument("--json", action="store_true", help="print results.json instead of the table")
