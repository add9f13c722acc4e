"""A Gemini API in a process of its own for very long chats: it answers at once, counts by characters and keeps nothing.

Prints its address, and serves until its input ends.
"""

from __future__ import annotations

import json
import sys
from itertools import count
from typing import Any, Final

from tests.support.emulator import SECTIONS, snapshot_of
from tests.support.emulator.http_server import Exchange, HttpRequest, LoopbackServer
from tests.support.emulator.tokens import count_request

ANSWER_WORDS: Final = 60


def main() -> None:
    """Serve until the end of the input."""
    numbers = count()

    async def answer(request: HttpRequest, exchange: Exchange) -> None:
        body: dict[str, Any] = json.loads(request.body or b"{}")
        if ":countTokens" in request.target:
            asked = body.get("generateContentRequest", body)
            await exchange.reply(200, json.dumps({"totalTokens": count_request(asked)}).encode())
        elif ":streamGenerateContent" in request.target:
            number = next(numbers)
            text = " ".join(f"answer{number}word{word}" for word in range(ANSWER_WORDS))
            await exchange.begin_events()
            await exchange.send(b"data: " + json.dumps(_piece(text, body)).encode() + b"\r\n\r\n")
            await exchange.end()
        else:
            snapshot = snapshot_of({name: f"- {name} of request {next(numbers)}" for name in SECTIONS})
            text = snapshot if b"state_snapshot" in request.body else "A title"
            await exchange.reply(200, json.dumps(_piece(text, body)).encode())

    server = LoopbackServer(answer)
    server.start()
    print(f"http://127.0.0.1:{server.port}", flush=True)
    sys.stdin.read()
    server.stop()


def _piece(text: str, body: dict[str, Any]) -> dict[str, object]:
    prompt, said = count_request(body), len(text) // 4
    usage = {"promptTokenCount": prompt, "candidatesTokenCount": said, "totalTokenCount": prompt + said}
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": usage,
        "modelVersion": "gemini-2.5-flash",
        "responseId": "soak",
    }


if __name__ == "__main__":
    main()
