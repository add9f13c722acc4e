"""What a streamed delta costs: from the SDK's chunk to the frame on stdout, beside the SDK alone on the same stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from statistics import median
from typing import Final

from gemini_companion.adapters.gemini import GeminiModelClient, GeminiOptions
from gemini_companion.engine.history.content import user_text
from gemini_companion.protocol.codec import encode_body
from gemini_companion.protocol.frames import frame
from gemini_companion.protocol.types import EventParams
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.ports import ModelRequest
from gemini_companion.sessions.results import CompressionStatusReport
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.streaming import stream_answer
from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding
from tests.performance.instant import InstantModel
from tests.performance.options import Options
from tests.support.emulator import Emulator, Reply, answer
from tests.support.sessions import ManualClock

NAME: Final = "streaming"
OVERHEAD_MS: Final = 0.3


def run(options: Options) -> Iterator[Finding]:
    """Both ways of looking at it."""
    pieces = 200 if options.quick else 2_000
    yield Figure(bench=NAME, name="our share per delta, in process", value=_in_process(pieces), unit="ms", target=OVERHEAD_MS)
    if options.quick:
        return
    with Emulator() as emulator:
        alone = median([_sdk_alone(emulator, pieces) for _ in range(3)])
        whole = median(_through_the_daemon(options, emulator, pieces))
    yield Figure(bench=NAME, name="per delta, socket to stdout", value=whole, unit="ms", beside="the SDK alone", beside_value=alone)
    yield Figure(bench=NAME, name="the difference", value=max(0.0, whole - alone), unit="ms", target=OVERHEAD_MS)


class _Wire:
    """Encodes and frames as the connection does, and throws the bytes away."""

    def __init__(self) -> None:
        self.bytes = 0

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        params = EventParams(session_id=session_id, seq=seq, time=time, turn_id=turn_id, event=event)
        message = {"jsonrpc": "2.0", "method": "gemini/event", "params": params}
        self.bytes += len(frame(encode_body(message)))

    def status(self, report: CompressionStatusReport) -> None:
        """Not part of a delta."""


def _in_process(pieces: int) -> float:
    """Milliseconds per delta of checking, telling, encoding and framing, with a model that costs nothing."""
    wire, clock = _Wire(), ManualClock()
    model = InstantModel(tuple(f"piece {number} " for number in range(pieces)))
    request = ModelRequest(model="instant", contents=(user_text("go"),))
    sent = 0

    def emit(event: Event) -> None:
        nonlocal sent
        sent += 1
        wire.event("session", sent, clock.now(), "turn", event)

    async def stream() -> None:
        await stream_answer(model, request, emit=emit, retries=RetryBudget(clock, 0))

    started = time.perf_counter()
    asyncio.run(stream())
    return (time.perf_counter() - started) * 1000 / pieces


def _sdk_alone(emulator: Emulator, pieces: int) -> float:
    """Milliseconds per chunk that the SDK takes by itself."""
    emulator.script(_long_answer(pieces), method="streamGenerateContent")

    async def stream() -> float:
        client = GeminiModelClient(GeminiOptions(api_key="key", base_url=emulator.base_url))
        await client.warm_up()
        request = ModelRequest(model="gemini-2.5-flash", contents=(user_text("go"),))
        started = time.perf_counter()
        async for _ in client.stream(request):
            pass
        took = time.perf_counter() - started
        await client.close()
        return took * 1000 / pieces

    return asyncio.run(stream())


def _through_the_daemon(options: Options, emulator: Emulator, pieces: int) -> list[float]:
    environment = options.environment(GEMINI_API_KEY="key", GOOGLE_GEMINI_BASE_URL=emulator.base_url)
    figures: list[float] = []
    with Daemon(options.server_command(), environment) as daemon:
        daemon.initialize()
        daemon.notify("initialized", {})
        daemon.request("gemini/chat", {"prompt": "warm up"})
        for _ in range(3):
            emulator.script(_long_answer(pieces), method="streamGenerateContent")
            daemon.notifications.clear()
            daemon.request("gemini/chat", {"prompt": "go"})
            deltas = [
                arrival.at
                for arrival in daemon.notifications
                if arrival.message["method"] == "gemini/event" and arrival.message["params"]["event"]["type"] == "messageDelta"
            ]
            figures.append((deltas[-1] - deltas[0]) / 1e6 / max(1, len(deltas) - 1))
    return figures


def _long_answer(pieces: int) -> Reply:
    return answer(*(f"piece {number} " for number in range(pieces)))
