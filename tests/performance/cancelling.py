"""From `$/cancelRequest` to the answer -32800, with the model's service hanging."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median
from typing import Any, Final

from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.support.emulator import Emulator, Gate, faults
from tests.support.emulator.emulator import Method

NAME: Final = "cancel to settled"
TARGET_MS: Final = 100.0


def run(options: Options) -> Iterator[Finding]:
    """Of a chat, and of a compression."""
    rounds = options.rounds(20)
    with Emulator() as emulator:
        environment = options.environment(GEMINI_API_KEY="key", GOOGLE_GEMINI_BASE_URL=emulator.base_url)
        with Daemon(options.server_command(), environment) as daemon:
            daemon.initialize()
            daemon.notify("initialized", {})
            for number in range(4):
                daemon.request("gemini/chat", {"prompt": f"{number} " + "word " * 400})
            chat = [_cancelled(daemon, emulator, "gemini/chat", {"prompt": "go"}) for _ in range(rounds)]
            compress = [_cancelled(daemon, emulator, "gemini/compress", {}) for _ in range(rounds)]
        emulator.release()
    for name, figures in (("a chat", chat), ("a compression", compress)):
        yield Figure(bench=NAME, name=name, value=median(figures), unit="ms", target=TARGET_MS)
        yield Figure(bench=NAME, name=f"{name}, the worst of {rounds}", value=max(figures), unit="ms", target=TARGET_MS)


def _cancelled(daemon: Daemon, emulator: Emulator, method: str, params: dict[str, Any]) -> float:
    """Milliseconds until the request that hangs in the service is answered."""
    emulator.script(faults.hang_before_headers(Gate()), method="streamGenerateContent" if method == "gemini/chat" else "generateContent")
    kind: Method = "streamGenerateContent" if method == "gemini/chat" else "generateContent"
    before = len(emulator.asked(kind))
    request_id = daemon.send(method, params)
    emulator.wait_for_request_blocking(before + 1, kind)
    started = time.perf_counter_ns()
    daemon.notify("$/cancelRequest", {"id": request_id})
    arrival = daemon.answer_to(request_id)
    assert arrival.message["error"]["code"] == -32800, arrival.message
    return (arrival.at - started) / 1e6
