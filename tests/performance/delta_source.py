"""A Gemini API in a process of its own whose streams carry, in each delta, the moment at which it was sent.

Built on the tests' emulator's HTTP server. Prints its address, and serves until its input ends. Arguments: deltas a
stream, and the milliseconds between them.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from tests.support.emulator.http_server import Exchange, HttpRequest, LoopbackServer


def main(deltas: int, pause: float) -> None:
    """Serve until the end of the input."""

    async def answer(request: HttpRequest, exchange: Exchange) -> None:
        if ":streamGenerateContent" not in request.target:
            await exchange.reply(200, json.dumps({"totalTokens": 10, **_piece("A title", last=True)}).encode())
            return
        await exchange.begin_events()
        for index in range(deltas):
            await asyncio.sleep(pause)
            piece = _piece(f"{time.perf_counter_ns()} and three words ", last=index == deltas - 1)
            await exchange.send(b"data: " + json.dumps(piece).encode() + b"\r\n\r\n")
        await exchange.end()

    server = LoopbackServer(answer)
    server.start()
    print(f"http://127.0.0.1:{server.port}", flush=True)
    sys.stdin.read()
    server.stop()


def _piece(text: str, *, last: bool) -> dict[str, object]:
    candidate: dict[str, object] = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}
    if last:
        candidate["finishReason"] = "STOP"
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-2.5-flash",
        "responseId": "bench",
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]) / 1000)
