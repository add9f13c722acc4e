"""What compressing adds to the wait for an answer: time from a prompt to its request, with a summariser that is slow.

A summariser takes ten seconds for each of its two calls, an answer a few, and a person more until the next prompt. All of
that is simulated (`simulated_time`); what is ours counts with the processor time that it takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple, cast

from gemini_companion.engine.history.log import CompressionEntry, Usage
from gemini_companion.engine.history.verdict import BackgroundMode
from gemini_companion.engine.tokens.counters import count_content
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.sessions.models.port import CountedTokens, LocalContext, ModelChunk, ModelRequest
from tests.performance.figures import Figure, Finding
from tests.performance.instant import InstantModel
from tests.performance.options import Options
from tests.performance.simulated_time import LoopClock, run_simulated
from tests.performance.spread import median
from tests.support.sessions import Studio

NAME: Final = "waiting"
TURNS: Final = 200
WINDOW: Final = 32_000
SUMMARISER_SECONDS: Final = 10.0
WORST_MS: Final = 300.0
MEDIAN_MS: Final = 5.0
"""The target is none; so much two medians of the same thing differ by."""


class Pace(NamedTuple):
    """How a chat is led, in simulated seconds."""

    name: str
    words: int
    """Of each prompt and of each answer."""
    answer: float
    person: float
    fits: bool = True
    """What is said while a snapshot is written has room in the window."""


PACES: Final = (
    Pace("a person types", 250, 4.0, 4.0),
    Pace("a person thinks", 250, 4.0, 40.0),
    Pace("prompt upon prompt", 250, 2.0, 0.0),
    Pace("faster than snapshots are written", 500, 2.0, 0.0, fits=False),
)
"""At the last one thirteen thousand tokens come in the twenty seconds of a compression, which hides no more than that: the
window is full, and turns must wait. How long, beside compressing when it is due, is all that can be said of it.
"""


def run(options: Options) -> Iterator[Finding]:
    """Lead the chats: without compression, with it in the background, and with it when it is due."""
    turns = 40 if options.quick else TURNS
    for pace in PACES[:1] if options.quick else PACES:
        options.tell(pace.name)
        alone = run_simulated(_lead(options, pace, turns, None))
        ahead = run_simulated(_lead(options, pace, turns, "auto"))
        due = run_simulated(_lead(options, pace, turns, "off")) if pace is PACES[0] or options.thorough else None
        usual = median(alone.waits)
        note = f"{ahead.compressions} in {turns} turns, {ahead.waited_for} waited for"
        added = [wait - usual for wait in ahead.waits]
        yield _figure(f"{pace.name}: median", max(0.0, median(added)), MEDIAN_MS, note)
        yield _figure(f"{pace.name}: worst", max(added), WORST_MS if pace.fits else None, "")
        yield _figure(f"{pace.name}: worst without any compression", max(alone.waits) - usual, None, "")
        if due is None:
            continue
        when_due = f"what `off` costs; {due.compressions} in {turns} turns"
        yield _figure(f"{pace.name}: worst when due", max(due.waits) - usual, None, when_due)
        yield Figure(
            bench=NAME,
            name=f"{pace.name}: all waits",
            value=(sum(ahead.waits) - sum(alone.waits)) / 1000,
            unit="s",
            beside="when due",
            beside_value=(sum(due.waits) - sum(alone.waits)) / 1000,
        )


def _figure(name: str, value: float, target: float | None, note: str) -> Figure:
    return Figure(bench=NAME, name=name, value=value, unit="ms", target=target, note=note)


class _Led(NamedTuple):
    waits: list[float]
    """Milliseconds from a prompt to its request."""
    compressions: int
    waited_for: int
    """Those that a turn waited for."""


def _words(count: int) -> str:
    """A text that does not go round in circles: an answer that did would be ended."""
    return " ".join(f"word{number}" for number in range(count // 2))


class _PacedModel(InstantModel):
    """Answers and summarises in its own time, and counts what is there."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace
        self._text = _words(pace.words)
        self._counter = LexicalTokenCounter()
        self.requested = 0.0
        """When the last request for an answer came, in seconds of the loop."""

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        self.requested = asyncio.get_running_loop().time()
        await asyncio.sleep(self._pace.answer)
        yield ModelChunk(parts=({"text": self._text},))
        yield ModelChunk(finish_reason="STOP", usage=Usage(prompt_tokens=self._tokens(request), output_tokens=1))

    async def generate(self, request: ModelRequest) -> ModelChunk:
        if request.role == "utility_compressor":
            await asyncio.sleep(SUMMARISER_SECONDS)
        return await super().generate(request)

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        return CountedTokens(total=self._tokens(request), source="api", covers_system=True)

    def _tokens(self, request: ModelRequest) -> int:
        counter = self._counter
        return round(
            counter.count_text(request.system_instruction or "")
            + sum(count_content(content.parts, counter) for content in request.contents)
        )


async def _lead(options: Options, pace: Pace, turns: int, mode: BackgroundMode | None) -> _Led:
    model = _PacedModel(pace)
    studio = Studio(
        Path(mkdtemp(dir=options.scratch)),
        model=cast("Any", model),
        compression_background=mode or "off",
        compression_mode="off" if mode is None else "auto",
        token_limit_override=10_000_000 if mode is None else WINDOW,
    )
    studio.services.clock = LoopClock()
    now = asyncio.get_running_loop().time
    waits: list[float] = []
    for number in range(turns):
        sent = now()
        await studio.chat(f"{number} {_words(pace.words)}")
        waits.append((model.requested - sent) * 1000)
        await asyncio.sleep(pace.person)
    session = await studio.session()
    made = [entry.result.trigger for entry in session.history.entries if isinstance(entry, CompressionEntry)]
    await studio.app.close()
    return _Led(waits, len(made), made.count("auto"))
