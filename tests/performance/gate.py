"""What the gate does after a model wrote a snapshot by the default strategy: the record, and what it covers, beside
planning the same compression; and how both grow. By a thread's processor time, so that others' work changes nothing.

The contents are known, as they are in a chat that rested: what is found in each is found once, when it comes.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, NamedTuple

from gemini_companion.engine.compression.gate import Evidence, GateOptions
from gemini_companion.engine.compression.sources import sources_of
from gemini_companion.engine.compression.strategies.registry import STRATEGIES
from gemini_companion.engine.compression.types import LogState, Trim
from gemini_companion.engine.history.compose import span as within
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.history.verdict import DEFAULT_STRATEGY
from gemini_companion.sessions.compression.gating import span_of_plan
from tests.performance.conversation import DESCRIPTION, TEXT_ONLY, make_contents
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.spread import median
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio

NAME: Final = "gate"
SMALL: Final = 10_000
LARGE: Final = 40_000
TARGET: Final = 0.5
"""Of the gate beside planning."""
TARGET_OF_GROWTH: Final = 4**1.05
"""Of four times the contents beside one time: the exponent is 1.05."""
_WINDOW: Final = 1_048_576


class _Spent(NamedTuple):
    planning: float
    gate: float


def run(options: Options) -> Iterator[Finding]:
    """Both sizes, with calls and without."""
    sizes = (200, 800) if options.quick else (SMALL, LARGE)
    for what, block in (("", tuple(DESCRIPTION["block"])), (", text only", TEXT_ONLY)):
        spent: dict[int, _Spent] = {}
        for size in sizes:
            options.tell(f"{size:,} contents{what}")
            contents = decode_contents(make_contents(size, block=block))
            spent[size] = asyncio.run(_spent(Studio(Path(mkdtemp(dir=options.scratch))), contents, options.rounds(5)))
        small, large = (spent[size] for size in sizes)
        yield Figure(
            bench=NAME,
            name=f"the gate, {sizes[0]:,}{what}",
            value=small.gate,
            unit="ms",
            beside="planning",
            beside_value=small.planning,
            target=TARGET,
            note="planning reads the tokens of contents, the gate what was said",
        )
        yield Figure(
            bench=NAME,
            name=f"the gate, {sizes[1]:,}{what}",
            value=large.gate,
            unit="ms",
            beside=f"{sizes[0]:,} contents",
            beside_value=small.gate,
            target=TARGET_OF_GROWTH,
        )


async def _spent(studio: Studio, contents: list[Content], rounds: int) -> _Spent:
    session = await studio.load(contents)
    history, cache = session.history, session.fact_cache
    items = history.curated()
    trim = Trim(items=items, cut_items=items, cuts=())
    plan = STRATEGIES[DEFAULT_STRATEGY]().plan(trim, LogState(history.version, limit=_WINDOW))
    assert plan is not None
    span = span_of_plan(plan)
    hidden = [item for item in within(history.sources.copied(), *span.hides) if item.seq not in span.keeps]
    tokens = sum(item.measure.tokens for item in hidden)
    options = GateOptions(record_window=_WINDOW, has_record=plan.has_record)

    def gate() -> None:
        evidence = Evidence(
            sources_of(hidden, cache), beside=[item.content for item in span.beside], fresh=span.fresh, cache=cache
        )
        evidence.check(SNAPSHOT, options, count_text=session.ledger.count_text, hidden_tokens=tokens)

    gate()
    planning = [
        _thread_ms(lambda: STRATEGIES[DEFAULT_STRATEGY]().plan(trim, LogState(history.version, limit=_WINDOW)))
        for _ in range(rounds)
    ]
    return _Spent(median(planning), median(_thread_ms(gate) for _ in range(rounds)))


def _thread_ms(work: Callable[[], object]) -> float:
    gc.collect()
    started = time.thread_time()
    work()
    return (time.thread_time() - started) * 1_000
