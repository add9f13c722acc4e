"""What a delta costs between the provider's stream and the client, beyond what the SDK costs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, Self, cast

from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.server import CompanionServer
from gemini_companion.protocol.sink import ConnectionSink
from gemini_companion.sessions.clients import Client
from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding
from tests.performance.instant import InstantModel
from tests.performance.options import ROOT, Options
from tests.performance.spread import median
from tests.performance.timing import interleaved
from tests.support.sessions import Studio

NAME: Final = "streaming"
TARGET_MS: Final = 0.3
MODEL: Final = "gemini-2.5-flash"

_PAUSE_MS: Final = 3
_PIECES: Final = 5_000


def run(options: Options) -> Iterator[Finding]:
    """Through two processes, then in one."""
    deltas = 20 if options.quick else 150
    with ExitStack() as stack:
        base_url = stack.enter_context(Source(options, deltas)).base_url
        sdk = stack.enter_context(_SdkAlone(options, base_url))
        server = stack.enter_context(_Server(options, base_url))
        sdk.stream()
        server.stream()  # once for what is loaded late
        taken = interleaved({"ours": server.stream, "sdk": sdk.stream}, options.rounds(16))
    ours, alone = median(taken["ours"]), median(taken["sdk"])
    overhead = median(server_ms - sdk_ms for server_ms, sdk_ms in zip(taken["ours"], taken["sdk"], strict=True))
    yield Figure(
        bench=NAME,
        name="SSE event sent to frame read by the client",
        value=ours,
        unit="ms",
        beside="the SDK alone",
        beside_value=alone,
    )
    yield Figure(bench=NAME, name="overhead per delta, median", value=max(0.0, overhead), unit="ms", target=TARGET_MS)
    pieces = 200 if options.quick else _PIECES
    each = asyncio.run(_in_process(options, pieces))
    yield Figure(
        bench=NAME, name="of it our own work: check, tell, number, encode, frame", value=each * 1000, unit="ms"
    )


class Service:
    """A process that runs a module, which prints its address first and serves until its input ends."""

    def __init__(self, options: Options, module: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=options.environment(),
            cwd=ROOT,
            text=True,
        )
        assert self._process.stdout
        self.base_url = self._process.stdout.readline().strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


class Source(Service):
    """The API's process."""

    def __init__(self, options: Options, deltas: int, *, pause_ms: int = _PAUSE_MS) -> None:
        super().__init__(options, "tests.performance.delta_source", str(deltas), str(pause_ms))


class _SdkAlone:
    """A process with nothing but the SDK."""

    def __init__(self, options: Options, base_url: str) -> None:
        command = [sys.executable, "-m", "tests.performance.sdk_alone", base_url]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=options.environment(),
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> _SdkAlone:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def stream(self) -> float:
        """The median milliseconds that a delta is under way."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return median(json.loads(self._process.stdout.readline())) / 1000


class _Server:
    """Ours, with a key and the API's address in its environment, and a chat open."""

    def __init__(self, options: Options, base_url: str) -> None:
        environment = options.environment(GEMINI_API_KEY="bench", GOOGLE_GEMINI_BASE_URL=base_url)
        self._daemon = Daemon(options.server_command(), environment)

    def __enter__(self) -> _Server:
        self._daemon.initialize()
        self._daemon.notify("initialized", {})
        return self

    def __exit__(self, *_: object) -> None:
        self._daemon.__exit__(None, None, None)

    def stream(self) -> float:
        """The same, of `messageDelta` frames as the client reads them."""
        self._daemon.notifications.clear()
        answer = self._daemon.request("gemini/chat", {"prompt": "Hello", "model": MODEL})
        assert "result" in answer, answer
        taken: list[float] = []
        for at, message in self._daemon.notifications:
            event = message["params"].get("event", {})
            if event.get("type") == "messageDelta":
                taken.append((at - int(event["text"].split(" ", 1)[0])) / 1e6)
        return median(taken)


async def _in_process(options: Options, pieces: int) -> float:
    """Seconds a delta of a turn whose model answers at once and whose frames go nowhere."""
    studio = Studio(
        Path(mkdtemp(dir=options.scratch)), model=cast("Any", InstantModel(("three little words ",) * pieces))
    )
    server = CompanionServer(ServerDescription(name="bench", version="1"))
    server.dispatcher.set_writer(_Nowhere(), include_headers=True)
    client = Client("client-of-the-bench", ConnectionSink(server.connection))
    studio.app.attach(client)
    await studio.app.chat(client, ({"text": "Hello"},))
    started = time.perf_counter()
    await studio.app.chat(client, ({"text": "Hello"},))
    return (time.perf_counter() - started) / pieces


class _Nowhere:
    """A writer that lets everything go."""

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass
