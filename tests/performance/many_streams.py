"""Fifty chats whose answers stream at once: what a delta costs beyond the SDK, and how evenly the deltas come, also while
a long chat is compressed and another imported.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

from google import genai
from google.genai import types

from gemini_companion.adapters.clock import SystemClock
from gemini_companion.adapters.gemini.options import from_environment
from gemini_companion.adapters.gemini.provider import GeminiProvider
from gemini_companion.adapters.storage import open_store
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.server import CompanionServer
from gemini_companion.protocol.sink import ConnectionSink
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelProvider, ModelRequest
from gemini_companion.sessions.ports import SessionStore
from tests.performance.conversation import make_contents
from tests.performance.figures import Figure, Finding
from tests.performance.instant import InstantModel
from tests.performance.options import Options
from tests.performance.streaming import MODEL, Source
from tests.support.sessions import Studio

NAME: Final = "streams"
TARGET_CPU_MS: Final = 0.25
TARGET_GAP_MS: Final = 60

LONG: Final = 10_000
"""Contents of the chats that are compressed and imported meanwhile."""
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
    bare, gaps_bare = asyncio.run(_bare(chats, deltas))
    paced, gaps_paced = asyncio.run(_paced(options, chats, deltas))
    yield Figure(
        bench=NAME,
        name=f"{of}, a model that only waits: CPU a delta beyond the waiting",
        value=max(0.0, paced - bare) * each,
        unit="ms",
        target=TARGET_CPU_MS,
    )
    name = f"{of}, a model that only waits: between two deltas, 99th percentile"
    yield Figure(bench=NAME, name=name, value=_late(gaps_paced), unit="ms", target=TARGET_GAP_MS)
    yield Figure(bench=NAME, name="the same, the waiting alone", value=_late(gaps_bare), unit="ms")
    size = 200 if options.quick else LONG
    gaps_beside = asyncio.run(_beside_long_ones(options, chats, deltas, size))
    yield Figure(
        bench=NAME,
        name=f"the same while a chat of {size:,} contents is compressed and another imported",
        value=_late(gaps_beside),
        unit="ms",
        target=TARGET_GAP_MS,
    )


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


class _Paced(InstantModel):
    """Streams one delta after each pause, and does nothing else."""

    def __init__(self, deltas: int) -> None:
        super().__init__()
        self._deltas = deltas

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        for _ in range(self._deltas):
            await asyncio.sleep(_PAUSE_MS / 1000)
            yield ModelChunk(parts=({"text": f"{time.perf_counter_ns()} and three words "},))
        yield ModelChunk(finish_reason="STOP")


class _Chats:
    """The daemon but for its pipe, with so many clients, each with a chat of its own."""

    def __init__(self, options: Options, model: ModelProvider, chats: int, store: SessionStore | None = None) -> None:
        folder = Path(mkdtemp(dir=options.scratch))
        # By default ten answers come at once, and the other chats wait for a slot.
        calls = chats + 1  # and the summariser of the one that is compressed
        self.studio = Studio(folder, model=cast("Any", model), store=store, most_model_calls=calls)
        server, self.arrivals = CompanionServer(ServerDescription(name="bench", version="1")), _Arrivals()
        server.dispatcher.set_writer(self.arrivals, include_headers=True)
        self._clients = [Client(f"client-{number}", ConnectionSink(server.connection)) for number in range(chats)]
        for client in self._clients:
            self.studio.app.attach(client)

    async def chat(self, number: int) -> None:
        """A prompt of this client, to its end."""
        result = await self.studio.app.chat(self._clients[number], _PROMPT)
        assert result.finish_reason == "STOP", result.finish_reason


async def _ours(options: Options, base_url: str, chats: int) -> tuple[float, list[float]]:
    """Seconds of CPU, and the seconds between the deltas of one chat."""
    gemini = from_environment({"GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": base_url})
    assert gemini is not None
    model = GeminiProvider(gemini)
    await model.warm_up()
    ours = _Chats(options, model, chats)
    spent = await _spent(ours.chat, chats, ours.arrivals.at.clear)
    await ours.studio.app.close()
    await model.close()
    return spent, _gaps(ours.arrivals.at.values())


async def _paced(options: Options, chats: int, deltas: int) -> tuple[float, list[float]]:
    """The same with a model in this process, behind our own port."""
    ours = _Chats(options, _Paced(deltas), chats)
    spent = await _spent(ours.chat, chats, ours.arrivals.at.clear)
    await ours.studio.app.close()
    return spent, _gaps(ours.arrivals.at.values())


async def _bare(chats: int, deltas: int) -> tuple[float, list[float]]:
    """The same of the pauses, with nothing between them: what the machine and the event loop make of it."""
    at: dict[int, list[float]] = {}

    async def wait(number: int) -> None:
        for _ in range(deltas):
            await asyncio.sleep(_PAUSE_MS / 1000)
            at.setdefault(number, []).append(time.perf_counter())

    spent = await _spent(wait, chats, at.clear)
    return spent, _gaps(at.values())


async def _beside_long_ones(options: Options, chats: int, deltas: int, size: int) -> list[float]:
    """The seconds between deltas for as long as a chat of `size` contents is compressed and one is imported."""
    folder = Path(mkdtemp(dir=options.scratch))
    contents = make_contents(size)
    file = folder / "contents.json"
    file.write_text(json.dumps(contents), "utf-8")
    store = open_store(folder, "bench", clock=SystemClock(), vault=Vault(folder, keyring=lambda: None))
    ours = _Chats(options, _Paced(deltas), chats, store)
    app, client = ours.studio.app, ours.studio.client
    long = await ours.studio.load(decode_contents(contents))
    await asyncio.gather(*map(ours.chat, range(chats)))
    ours.arrivals.at.clear()
    streaming = [asyncio.create_task(ours.chat(number)) for number in range(chats)]
    result, _ = await asyncio.gather(app.compress(client, long.session_id), app.import_session(client, str(file)))
    assert result.status == "COMPRESSED", result.status
    ended = time.perf_counter()
    await asyncio.gather(*streaming)
    await app.close()
    return _gaps([[at for at in times if at <= ended] for times in ours.arrivals.at.values()])


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
