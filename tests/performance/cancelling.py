"""From `$/cancelRequest` to the answer that a job was cancelled, while the provider is silent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.performance.daemon import Arrival, Daemon
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.spread import median
from tests.performance.streaming import MODEL
from tests.support.emulator import Emulator, RecordedRequest, faults

NAME: Final = "cancelling"
TARGET_MS: Final = 100
CANCELLED: Final = -32800


def run(options: Options) -> Iterator[Finding]:
    """A chat before its first delta and in the middle of its stream, and a compression."""
    rounds = options.rounds(20)
    with Emulator() as provider:
        environment = options.environment(GEMINI_API_KEY="bench", GOOGLE_GEMINI_BASE_URL=provider.base_url)
        with Daemon(options.server_command(), environment) as daemon:
            daemon.initialize()
            daemon.notify("initialized", {})
            for _ in range(3):
                assert "result" in daemon.request("gemini/chat", _prompt())
            yield from _figures("a chat that waits", [_cancel(daemon, provider, _waiting_chat) for _ in range(rounds)])
            yield from _figures(
                "a chat that streams", [_cancel(daemon, provider, _streaming_chat) for _ in range(rounds)]
            )
            yield from _figures("a compression", [_cancel(daemon, provider, _compression) for _ in range(rounds)])


Start = Callable[[Daemon, Emulator], int]


def _cancel(daemon: Daemon, provider: Emulator, start: Start) -> float:
    """Milliseconds from the cancel to the answer."""
    request_id = start(daemon, provider)
    started = time.perf_counter_ns()
    daemon.notify("$/cancelRequest", {"id": request_id})
    at, message = daemon.answer_to(request_id)
    assert message.get("error", {}).get("code") == CANCELLED, message
    return (at - started) / 1e6


def _prompt() -> dict[str, Any]:
    return {"prompt": "Tell me more. " * 200, "model": MODEL}


def _waiting_chat(daemon: Daemon, provider: Emulator) -> int:
    """A chat whose request has arrived and is not answered."""
    provider.script(faults.hang_before_headers(), method="streamGenerateContent")
    asked = len(provider.asked("streamGenerateContent"))
    request_id = daemon.send("gemini/chat", _prompt())
    provider.wait_for_request_blocking(asked + 1, "streamGenerateContent")
    return request_id


def _streaming_chat(daemon: Daemon, provider: Emulator) -> int:
    """A chat of which a delta is here and no more comes."""
    provider.script(faults.hang_mid_stream(), method="streamGenerateContent")
    request_id = daemon.send("gemini/chat", _prompt())
    while not _is_delta(daemon.next()):
        pass
    return request_id


def _compression(daemon: Daemon, provider: Emulator) -> int:
    """A compression whose first question has arrived and is not answered."""

    def is_summariser(request: RecordedRequest) -> bool:
        return "state_snapshot" in request.system

    provider.script(faults.hang_before_headers(), method="generateContent", when=is_summariser)
    asked = len(provider.asked("generateContent"))
    request_id = daemon.send("gemini/compress", {})
    provider.wait_for_request_blocking(asked + 1, "generateContent")
    return request_id


def _is_delta(arrival: Arrival) -> bool:
    return arrival.message.get("params", {}).get("event", {}).get("type") == "messageDelta"


def _figures(what: str, taken: list[float]) -> Iterator[Figure]:
    yield Figure(bench=NAME, name=f"{what}, median", value=median(taken), unit="ms", target=TARGET_MS)
    yield Figure(bench=NAME, name=f"{what}, worst of {len(taken)}", value=max(taken), unit="ms", target=TARGET_MS)
