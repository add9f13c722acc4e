"""Fifty chats whose answers stream at once: what a delta costs beyond the SDK, and how evenly the deltas come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

from google import genai
from google.genai import types

from gemini_companion.adapters.gemini.options import from_environment
from gemini_companion.adapters.gemini.provider import GeminiProvider
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.server import CompanionServer
from gemini_companion.protocol.sink import ConnectionSink
from gemini_companion.sessions.clients import Client
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.streaming import MODEL, Source
from tests.support.sessions import Studio

NAME: Final = "streams"
TARGET_CPU_MS: Final = 0.25
TARGET_GAP_MS: Final = 60

_PAUSE_MS: Final = 50
"""Between two deltas, as the model sends them."""
_PROMPT: Final = ({"text": "Hello"},)
_ID: Final = b'"sessionId":"'


def run(options: Options) -> Iterator[Finding]:
    """Through the whole daemon but for its pipe, then with the SDK alone."""
    chats, deltas = (5, 10) if options.quick else (50, 100)
    with Source(options, deltas, pause_ms=_PAUSE_MS) as source:
        ours, gaps = asyncio.run(_ours(options, source.base_url, chats))
        alone, gaps_alone = asyncio.run(_sdk_alone(source.base_url, chats))
    each = 1000 / (chats * deltas)
    of = f"{chats} chats"
    yield Figure(
        bench=NAME,
        name=f"{of}: CPU a delta",
        value=ours * each,
        unit="ms",
        beside="SDK alone",
        beside_value=alone * each,
    )
    yield Figure(
        bench=NAME,
        name=f"{of}: CPU a delta beyond the SDK",
        value=max(0.0, ours - alone) * each,
        unit="ms",
        target=TARGET_CPU_MS,
    )
    name = f"{of}: between two deltas of a chat, 99th percentile"
    yield Figure(bench=NAME, name=name, value=_late(gaps), unit="ms", target=TARGET_GAP_MS)
    yield Figure(bench=NAME, name="the same, SDK alone", value=_late(gaps_alone), unit="ms")


def _late(gaps: list[float]) -> float:
    """The 99th percentile, in milliseconds."""
    return sorted(gaps)[int(len(gaps) * 0.99)] * 1000


def _gaps(arrivals: Iterable[list[float]]) -> list[float]:
    return [after - before for times in arrivals for before, after in pairwise(times)]


class _Arrivals:
    """A writer that notes when the deltas of each session come."""

    def __init__(self) -> None:
        self.at: dict[bytes, list[float]] = {}

    def write(self, data: bytes) -> None:
        if b'"messageDelta"' in data:
            session = data.partition(_ID)[2].partition(b'"')[0]
            self.at.setdefault(session, []).append(time.perf_counter())

    def close(self) -> None:
        pass


async def _ours(options: Options, base_url: str, chats: int) -> tuple[float, list[float]]:
    """Seconds of CPU, and the seconds between the deltas of one chat."""
    gemini = from_environment({"GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": base_url})
    assert gemini is not None
    model = GeminiProvider(gemini)
    await model.warm_up()
    studio = Studio(Path(mkdtemp(dir=options.scratch)), model=cast("Any", model))
    server, arrivals = CompanionServer(ServerDescription(name="bench", version="1")), _Arrivals()
    server.dispatcher.set_writer(arrivals, include_headers=True)
    clients = [Client(f"client-{number}", ConnectionSink(server.connection)) for number in range(chats)]
    for client in clients:
        studio.app.attach(client)

    async def chat(number: int) -> None:
        result = await studio.app.chat(clients[number], _PROMPT)
        assert result.finish_reason == "STOP", result.finish_reason

    spent = await _spent(chat, chats, arrivals.at.clear)
    await studio.app.close()
    await model.close()
    return spent, _gaps(arrivals.at.values())


async def _sdk_alone(base_url: str, chats: int) -> tuple[float, list[float]]:
    """The same of the SDK."""
    at: dict[int, list[float]] = {}
    client = genai.Client(api_key="bench", http_options=types.HttpOptions(base_url=base_url))

    async def read(number: int) -> None:
        async for _piece in await client.aio.models.generate_content_stream(model=MODEL, contents="Hello"):
            at.setdefault(number, []).append(time.perf_counter())

    spent = await _spent(read, chats, at.clear)
    await client.aio.aclose()
    return spent, _gaps(at.values())


async def _spent(work: Callable[[int], Awaitable[None]], times: int, begin: Callable[[], None]) -> float:
    """Seconds of CPU that it takes so many times at once, once everything is loaded."""
    await asyncio.gather(*map(work, range(times)))
    begin()
    busy = time.process_time()
    await asyncio.gather(*map(work, range(times)))
    return time.process_time() - busy
