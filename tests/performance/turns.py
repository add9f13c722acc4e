"""What a turn of our own costs on a long history: the real SDK, and a service in a process of its own that answers at
once.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

import msgspec

from gemini_companion.adapters.gemini.options import from_environment
from gemini_companion.adapters.gemini.provider import GeminiProvider
from gemini_companion.engine.history.decode import decode_contents
from tests.performance.conversation import make_contents
from tests.performance.figures import Figure, Finding
from tests.performance.lateness import worst_lag
from tests.performance.options import Options
from tests.performance.spread import median
from tests.performance.streaming import Source
from tests.support.sessions import Studio

NAME: Final = "turns"
TARGETS_MS: Final[dict[int, float | None]] = {100: None, 1_000: None, 10_000: 120, 100_000: 900}
"""By the number of contents."""
TARGET_STALL_MS: Final = 50
TARGET_OF_DUMP: Final = 1.0
"""A whole turn, beside one `json.dumps` of what it sends."""

_QUICK: Final[dict[int, float | None]] = {500: 120}
_SHORT: Final = 400
"""Characters of a content: so, ten thousand fill a window of a million tokens."""
_WINDOW: Final = 100_000_000
_PROMPT: Final = ({"text": "What did we do with the parser?"},)


def run(options: Options) -> Iterator[Finding]:
    """Turns one after another, each with one request."""
    with Source(options, 1, pause_ms=0) as source:
        for size, target in (_QUICK if options.quick else TARGETS_MS).items():
            options.tell(f"{size:,} contents")
            yield from asyncio.run(_turns(options, source.base_url, size, target))


async def _turns(options: Options, base_url: str, size: int, target: float | None) -> list[Finding]:
    contents = decode_contents(make_contents(size, characters=_SHORT))
    gemini = from_environment({"GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": base_url})
    assert gemini is not None
    model = GeminiProvider(gemini)
    await model.warm_up()
    studio = Studio(
        Path(mkdtemp(dir=options.scratch)),
        model=cast("Any", model),
        compression_threshold=1.0,
        token_limit_override=_WINDOW,
    )
    await studio.load(contents)
    gc.collect()

    async def turn() -> None:
        result = await studio.app.chat(studio.client, _PROMPT)
        assert result.finish_reason == "STOP", result.finish_reason

    await turn()  # what is looked through for the first time
    whole: list[float] = []
    ours: list[float] = []
    for _ in range(options.rounds(7)):
        begun, busy = time.perf_counter(), time.process_time()
        await turn()
        whole.append((time.perf_counter() - begun) * 1000)
        ours.append((time.process_time() - busy) * 1000)
    lags = [await worst_lag(turn) for _ in range(options.rounds(5))]
    sent: Any = msgspec.to_builtins(contents)
    dumping: list[float] = []
    for _ in range(options.rounds(5)):
        busy = time.process_time()
        json.dumps({"contents": sent})
        dumping.append((time.process_time() - busy) * 1000)
    await studio.app.close()
    await model.close()
    of = f"a turn on {size:,} contents"
    return [
        Figure(bench=NAME, name=of, value=median(whole), unit="ms", target=target),
        Figure(
            bench=NAME,
            name=f"{of}: CPU",
            value=median(ours),
            unit="ms",
            beside="one json.dumps of its contents",
            beside_value=median(dumping),
            target=TARGET_OF_DUMP if target is not None and not options.quick else None,
        ),
        Figure(
            bench=NAME,
            name=f"{of}: longest stall",
            value=median(lags),
            unit="ms",
            target=TARGET_STALL_MS if target is not None else None,
        ),
    ]
