"""Prints what is kept of the corpus, by summariser, with the gate and without: after 1, 5 and 10 compressions, one with
every tenth of a conversation, and after one of the whole conversation (`once`).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import msgspec

from gemini_companion.engine.history.content import Content
from tests.fidelity.passes import ARTIFACTS, SUMMARISERS, GrowingChat, Kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="a part of the names of the conversations")
    parser.add_argument("--summarisers", nargs="*", choices=SUMMARISERS, default=SUMMARISERS)
    arguments = parser.parse_args()
    corpus = Path(os.environ.get("COMPANION_CORPUS", "../shared/corpus"))
    files = sorted(path for path in corpus.glob("*/*.json") if arguments.only in str(path))
    if not files:
        sys.exit(f"No conversation in {corpus}; set COMPANION_CORPUS.")
    chats = [msgspec.convert(_history(path), list[Content]) for path in files]
    sys.stdout.write("summariser  gate  pass  artifacts (spread)     all (spread)  tokens left  refused  no source\n")
    for summariser in arguments.summarisers:
        for has_gate in (False, True):
            seeds = range(arguments.seeds if summariser in ("lossy", "terse") else 1)
            runs = [[GrowingChat(chat, summariser, has_gate, seed).run() for chat in chats] for seed in seeds]
            for number in (1, 5, 10):
                by_seed = [[passes[number - 1] for passes in run] for run in runs]
                sys.stdout.write(f"{summariser:11} {'on' if has_gate else 'off':5} {number:4}  {_row(by_seed)}\n")
            whole = [[GrowingChat(chat, summariser, has_gate, seed, 1).run()[0] for chat in chats] for seed in seeds]
            sys.stdout.write(f"{summariser:11} {'on' if has_gate else 'off':5} once  {_row(whole)}\n")


def _history(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))["history"]


def _row(by_seed: list[list[Kept]]) -> str:
    artifacts = [_share(kept, ARTIFACTS) for kept in by_seed]
    everything = [_share(kept, None) for kept in by_seed]
    hidden = sum(kept.hidden_tokens for run in by_seed for kept in run)
    left = sum(kept.replaced_by_tokens for run in by_seed for kept in run)
    refused = sum(kept.refused for run in by_seed for kept in run) / len(by_seed)
    unsupported = sum(kept.unsupported for run in by_seed for kept in run) / len(by_seed)
    return f"{_spread(artifacts)}  {_spread(everything)}  {left / max(1, hidden):11.1%}  {refused:7.1f}  {unsupported:9.1f}"


def _share(run: list[Kept], kinds: frozenset[str] | None) -> float:
    """Over all conversations together."""
    facts = sum(count for kept in run for kind, count in kept.facts.items() if kinds is None or kind in kinds)
    kept = sum(count for kept in run for kind, count in kept.kept.items() if kinds is None or kind in kinds)
    return kept / facts if facts else 1.0


def _spread(shares: list[float]) -> str:
    return f"{statistics.mean(shares):6.1%} ({min(shares):6.1%}–{max(shares):6.1%})"


if __name__ == "__main__":
    main()
