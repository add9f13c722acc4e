"""Sending a reply, step by step: as server-sent events, or merged into one response."""

from __future__ import annotations

import asyncio
import json
from typing import Final, NoReturn

from tests.support.emulator.http_server import Exchange
from tests.support.emulator.replies import Drop, Json, Pause, Reply, Trickle, merged
from tests.support.emulator.requested import RecordedRequest
from tests.support.emulator.tokens import characters_of
from tests.support.emulator.waiting import Gate

_TRICKLE_SECONDS: Final = 0.01
"""Between two pieces of a trickle."""


async def deliver(request: RecordedRequest, reply: Reply, exchange: Exchange, prompt_tokens: int) -> None:
    """Send `reply` as the answer to `request`, whose prompt has `prompt_tokens`."""
    if reply.error is not None:
        request.status = reply.error.code
        await exchange.reply(reply.error.code, reply.error.body(), reply.error.headers)
    elif reply.body is not None:
        request.status = 200
        await exchange.reply(200, reply.body, reply.headers)
    elif request.method == "streamGenerateContent":
        await _stream(request, reply, exchange, prompt_tokens)
    else:
        await _answer_at_once(request, reply, exchange, prompt_tokens)


async def _stream(request: RecordedRequest, reply: Reply, exchange: Exchange, prompt_tokens: int) -> None:
    tally = _Tally(prompt_tokens)
    begun = False
    for step in (*reply.steps, b""):
        if isinstance(step, Gate):
            await step.pass_through()
            continue
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            continue
        if isinstance(step, Drop):
            return exchange.drop()
        if not begun:
            await exchange.begin_events(reply.headers)
            begun, request.status = True, 200
        if isinstance(step, Trickle):
            await _trickle(exchange, step.data)
        elif isinstance(step, dict):
            await exchange.send(b"data: " + json.dumps(_completed(request, reply, step, tally)).encode() + b"\r\n\r\n")
        elif step:
            await exchange.send(step)
    return await exchange.end()


async def _answer_at_once(request: RecordedRequest, reply: Reply, exchange: Exchange, prompt_tokens: int) -> None:
    tally = _Tally(prompt_tokens)
    garbage = b""
    bodies: list[Json] = []
    for step in reply.steps:
        if isinstance(step, Gate):
            await step.pass_through()
        elif isinstance(step, Trickle):
            await exchange.promise(1 << 30, step.data)
            await _trickle(exchange, step.data, chunked=False)
        elif isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Drop):
            if bodies:
                whole = json.dumps(merged(bodies)).encode()
                await exchange.promise(len(whole), whole[: len(whole) // 2])
            return exchange.drop()
        elif isinstance(step, bytes):
            garbage += step
        elif "error" in step:
            request.status = step["error"]["code"]
            return await exchange.reply(request.status, json.dumps(step).encode())
        else:
            bodies.append(_completed(request, reply, step, tally))
    request.status = 200
    return await exchange.reply(200, json.dumps(merged(bodies)).encode() + garbage, reply.headers)


async def _trickle(exchange: Exchange, data: bytes, *, chunked: bool = True) -> NoReturn:
    while True:  # a client that hangs up cancels this
        await (exchange.send if chunked else exchange.send_plain)(data)
        await asyncio.sleep(_TRICKLE_SECONDS)


class _Tally:
    """The tokens of an answer so far."""

    def __init__(self, prompt: int) -> None:
        self._prompt = prompt
        self._characters = {True: 0, False: 0}

    def add(self, parts: list[Json]) -> None:
        for part in parts:
            self._characters[bool(part.get("thought"))] += characters_of(part)

    def usage(self) -> dict[str, int]:
        said, thought = (self._characters[kind] // 4 for kind in (False, True))
        usage = {"promptTokenCount": self._prompt, "totalTokenCount": self._prompt + thought + said}
        return {
            **usage,
            **({"candidatesTokenCount": said} if said else {}),
            **({"thoughtsTokenCount": thought} if thought else {}),
        }


def _completed(request: RecordedRequest, reply: Reply, body: Json, tally: _Tally) -> Json:
    """A response with what the API adds to each."""
    if reply.usage is None or "error" in body:
        return body
    for candidate in body.get("candidates", [])[:1]:
        tally.add(candidate.get("content", {}).get("parts", []))
    given = {} if reply.usage == "auto" else reply.usage
    return {
        **body,
        "usageMetadata": {**tally.usage(), **given, **body.get("usageMetadata", {})},
        "modelVersion": request.model,
        "responseId": f"response-{request.index}",
    }
