"""Fifty chats whose answers stream at once: what a delta costs beyond the SDK, and how evenly the deltas come, also while
a long chat is compressed and another imported.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple, cast

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
from tests.performance.spread import median
from tests.performance.streaming import MODEL, Source
from tests.support.sessions import Studio

NAME: Final = "streams"
TARGET_CPU_MS: Final = 0.25
TARGET_GAP_MS: Final = 60

LONG: Final = 10_000
"""Contents of the chats that are compressed and imported meanwhile."""
_PAUSE_MS: Final = 50
"""Between two deltas, as the model sends them."""
_BESIDE: Final = 100
"""Deltas of the chats beside long work: they stream for longer than that takes."""
_PROMPT: Final = ({"text": "Hello"},)
_ID: Final = b'"sessionId":"'


def run(options: Options) -> Iterator[Finding]:
    """Through the whole daemon but for its pipe, and with the SDK alone, in turns."""
    chats, deltas = (5, 10) if options.quick else (50, 30)
    of = f"{chats} chats"
    with Source(options, deltas, pause_ms=_PAUSE_MS) as source:
        rounds = asyncio.run(_in_turns(options, source.base_url, chats, deltas))
    cpu = {who: [one.cpu_ms for one in those] for who, those in rounds.items()}
    late = {who: median(_late(one.gaps) for one in those) for who, those in rounds.items()}
    yield Figure(
        bench=NAME,
        name=f"{of}: CPU a delta",
        value=median(cpu["ours"]),
        unit="ms",
        beside="SDK alone",
        beside_value=median(cpu["sdk"]),
        note="while all of them stream: what a turn needs before its first delta and after its last is a row of turns",
    )
    yield _beyond(f"{of}: CPU a delta beyond the SDK", cpu["ours"], cpu["sdk"])
    name = f"{of}: between two deltas of a chat, 99th percentile"
    yield Figure(bench=NAME, name=name, value=late["ours"], unit="ms", target=TARGET_GAP_MS)
    yield Figure(bench=NAME, name="the same, SDK alone", value=late["sdk"], unit="ms")
    yield _beyond(f"{of}, a model that only waits: CPU a delta beyond the waiting", cpu["paced"], cpu["bare"])
    name = f"{of}, a model that only waits: between two deltas, 99th percentile"
    yield Figure(bench=NAME, name=name, value=late["paced"], unit="ms", target=TARGET_GAP_MS)
    yield Figure(bench=NAME, name="the same, the waiting alone", value=late["bare"], unit="ms")
    size = 200 if options.quick else LONG
    gaps_beside = asyncio.run(_beside_long_ones(options, chats, 10 if options.quick else _BESIDE, size))
    yield Figure(
        bench=NAME,
        name=f"the same while a chat of {size:,} contents is compressed and another imported",
        value=_late(gaps_beside),
        unit="ms",
        target=TARGET_GAP_MS,
    )


def _beyond(name: str, ours: list[float], alone: list[float]) -> Figure:
    """What a delta costs more than without us, in the median round."""
    more = median(max(0.0, mine - other) for mine, other in zip(ours, alone, strict=True))
    return Figure(bench=NAME, name=name, value=more, unit="ms", target=TARGET_CPU_MS)


def _late(gaps: list[float]) -> float:
    """The 99th percentile, in milliseconds."""
    return sorted(gaps)[int(len(gaps) * 0.99)] * 1000


class _Round(NamedTuple):
    """Streams of all chats at once."""

    cpu_ms: float
    """Of a delta."""
    gaps: list[float]
    """Seconds between the deltas of one chat."""


class _Notes:
    """When each delta came, by the clock and by the process's CPU."""

    def __init__(self) -> None:
        self._all: list[tuple[Hashable, float, float]] = []

    def add(self, chat: Hashable) -> None:
        """A delta of this chat came."""
        self._all.append((chat, time.perf_counter(), time.process_time()))

    def gaps(self, until: float = math.inf) -> list[float]:
        """Seconds between the deltas of one chat, of those that began until a moment of `time.perf_counter`."""
        arrivals: dict[Hashable, list[float]] = {}
        for chat, at, _ in self._all:
            arrivals.setdefault(chat, []).append(at)
        pairs = (pair for times in arrivals.values() for pair in pairwise(times))
        return [after - before for before, after in pairs if before <= until]

    @property
    def chats(self) -> int:
        """Those of which a delta came."""
        return len({chat for chat, _, _ in self._all})

    def taken(self, deltas: int) -> _Round:
        """What was noted, and forget it. CPU counts from where every chat has begun until one of them has ended."""
        chats, seen = {chat for chat, _, _ in self._all}, Counter[Hashable]()
        begun = ended = 0
        for index, (chat, _, _) in enumerate(self._all):
            seen[chat] += 1
            if not begun and len(seen) == len(chats):
                begun = index
            if seen[chat] == deltas:
                ended = index
                break
        assert ended > begun, "no moment at which all of them streamed"
        used = self._all[ended][2] - self._all[begun][2]
        one = _Round(cpu_ms=used * 1000 / (ended - begun), gaps=self.gaps())
        self._all.clear()
        return one


class _Arrivals:
    """A writer that notes when the deltas of each session come."""

    def __init__(self, notes: _Notes) -> None:
        self._notes = notes

    def write(self, data: bytes) -> None:
        if b'"messageDelta"' in data:
            self._notes.add(data.partition(_ID)[2].partition(b'"')[0])

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
        self.notes = _Notes()
        server = CompanionServer(ServerDescription(name="bench", version="1"))
        server.dispatcher.set_writer(_Arrivals(self.notes), include_headers=True)
        self._clients = [Client(f"client-{number}", ConnectionSink(server.connection)) for number in range(chats)]
        for client in self._clients:
            self.studio.app.attach(client)

    async def chat(self, number: int) -> None:
        """A prompt of this client, to its end."""
        result = await self.studio.app.chat(self._clients[number], _PROMPT)
        assert result.finish_reason == "STOP", result.finish_reason


async def _in_turns(options: Options, base_url: str, chats: int, deltas: int) -> dict[str, list[_Round]]:
    """Rounds of the whole with the SDK, of the SDK alone, of a model behind our own port, and of its pauses alone: what
    the machine and the event loop make of those.
    """
    gemini = from_environment({"GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": base_url})
    assert gemini is not None
    model = GeminiProvider(gemini)
    await model.warm_up()
    ours, paced = _Chats(options, model, chats), _Chats(options, _Paced(deltas), chats)
    alone, bare = _Notes(), _Notes()
    client = genai.Client(api_key="bench", http_options=types.HttpOptions(base_url=base_url))

    async def read(number: int) -> None:
        async for _piece in await client.aio.models.generate_content_stream(model=MODEL, contents="Hello"):
            alone.add(number)

    async def wait(number: int) -> None:
        for _ in range(deltas):
            await asyncio.sleep(_PAUSE_MS / 1000)
            bare.add(number)

    contenders: dict[str, tuple[Callable[[int], Awaitable[None]], _Notes]] = {
        "ours": (ours.chat, ours.notes),
        "sdk": (read, alone),
        "paced": (paced.chat, paced.notes),
        "bare": (wait, bare),
    }
    rounds: dict[str, list[_Round]] = {who: [] for who in contenders}
    for number in range(options.rounds(5) + 1):
        for who, (work, notes) in contenders.items():
            await asyncio.gather(*map(work, range(chats)))
            taken = notes.taken(deltas)
            if number:  # the first one loads what is loaded late
                rounds[who].append(taken)
    await client.aio.aclose()
    await ours.studio.app.close()
    await paced.studio.app.close()
    await model.close()
    return rounds


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
    ours.notes.taken(deltas)
    streaming = [asyncio.create_task(ours.chat(number)) for number in range(chats)]
    while ours.notes.chats < chats:
        await asyncio.sleep(_PAUSE_MS / 1000)
    result, _ = await asyncio.gather(app.compress(client, long.session_id), app.import_session(client, str(file)))
    assert result.status == "COMPRESSED", result.status
    ended = time.perf_counter()
    await asyncio.gather(*streaming)
    await app.close()
    return ours.notes.gaps(until=ended)
