"""The longest stall of the event loop while a history of 10,000 contents is worked on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Final

from gemini_companion.adapters.offline.client import OfflineModelClient
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.sessions.ports import ModelClient
from gemini_companion.sessions.services import Models
from tests.performance.conversation import make_contents
from tests.performance.figures import Figure, Finding
from tests.performance.instant import InstantModel
from tests.performance.options import Options
from tests.support.sessions import Studio

NAME: Final = "event loop"
TARGET_MS: Final = 50.0


def run(options: Options) -> Iterator[Finding]:
    """Compressing with an instant model and with the built-in one, and a turn."""
    count = 1_000 if options.quick else 10_000
    offline = OfflineModelClient(count_text=LexicalTokenCounter().count_text)
    works: tuple[tuple[str, ModelClient | None, Callable[[Studio], Awaitable[object]]], ...] = (
        ("compressing, instant model", InstantModel(), lambda studio: studio.compress()),
        ("compressing, built-in model", None, lambda studio: studio.app.compress(studio.client, None)),
        ("a turn, instant model", InstantModel(), lambda studio: studio.chat("go on")),
    )
    for name, model, work in works:
        stall = asyncio.run(_longest(options, count, model, offline, work))
        yield Figure(bench=NAME, name=f"longest stall, {name}, {count:,} contents", value=stall, unit="ms", target=TARGET_MS)


async def _longest(
    options: Options, count: int, model: ModelClient | None, offline: ModelClient, work: Callable[[Studio], Awaitable[object]]
) -> float:
    """Milliseconds by which a ticker of one millisecond was late at worst."""
    studio = Studio(options.scratch)
    studio.services.models = Models(offline=offline, gemini=model)
    session = await studio.load(decode_contents(make_contents(count)))
    session.history.curated()
    worst = 0.0

    async def tick() -> None:
        nonlocal worst
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            worst = max(worst, (time.perf_counter() - before - 0.001) * 1000)

    ticker = asyncio.create_task(tick())
    await asyncio.sleep(0.05)
    worst = 0.0
    await work(studio)
    ticker.cancel()
    with suppress(asyncio.CancelledError):
        await ticker
    await studio.app.close()
    return worst
