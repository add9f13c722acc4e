"""Mutated frames on the standard input of a real process: each request gets an answer or a clean refusal, and nothing hangs or crashes.

`COMPANION_FUZZ_FRAMES=100000` runs the whole campaign; `COMPANION_FUZZ_SEED` repeats another one.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from gemini_companion.protocol.frames import frame
from tests.support import sample_server
from tests.support.wire import ProcessClient

FRAMES = int(os.environ.get("COMPANION_FUZZ_FRAMES", "3000"))
SEED = int(os.environ.get("COMPANION_FUZZ_SEED", "20261121"))
IN_A_ROW = 200
"""Frames sent before their answers are looked at."""

ODD: tuple[Any, ...] = (None, True, False, 0, -1, 1.5, 1e308, 10**40, "", "\ud800", "é\0", "$", [], [[]], {}, {"jsonrpc": "2.0", "method": "exit"}, "x" * 5000)
URI = "file:///w/a.py"
SEEDS: tuple[dict[str, Any], ...] = (
    {"method": "gemini/echo", "params": {"sessionId": "s", "parts": [{"text": "hi", "weight": 2.0}], "maxTokens": 5, "view": "model"}},
    {"method": "gemini/nothing"},
    {"method": "gemini/notice", "params": {"number": 1}},
    {"method": "sample/fail", "params": {"name": "defect"}},
    {"method": "sample/unencodable", "params": {}},
    {"method": "sample/surrogate"},
    {"method": "sample/commit", "params": {"workDoneToken": "t"}},
    {"method": "sample/wait", "params": {"name": "w", "workDoneToken": 7}},
    {"method": "workspace/executeCommand", "params": {"command": "sample.echo", "arguments": [{"sessionId": "s"}]}},
    {"method": "initialize", "params": {"processId": 1, "rootUri": None, "capabilities": {"general": {"positionEncodings": ["utf-8"]}}}},
    {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": "a\nb\n"}}},
    {
        "method": "textDocument/didChange",
        "params": {
            "textDocument": {"uri": URI, "version": 2},
            "contentChanges": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 1}}, "text": "c"}],
        },
    },
    {"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}},
    {"method": "workspace/didChangeWorkspaceFolders", "params": {"event": {"added": [{"uri": "file:///w", "name": "w"}], "removed": []}}},
    {"method": "$/cancelRequest", "params": {"id": 1}},
    {"method": "window/workDoneProgress/cancel", "params": {"token": 7}},
    {"id": 1, "result": {"outcome": "yes"}},
    {"id": 1, "error": {"code": 1, "message": "no"}},
)


@pytest.fixture
async def process() -> AsyncIterator[ProcessClient]:
    client = await ProcessClient.start(sample_server.__file__)
    await client.initialize()
    yield client
    await client.stop()


def mutated_value(value: Any, dice: random.Random) -> Any:
    """The value with one place in it changed."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(sorted(value))
        match dice.randrange(5):
            case 0:
                return {name: item for name, item in value.items() if name != key}
            case 1:
                return {**value, dice.choice(["extra", key + "x", "type_name", "jsonrpc", "__class__"]): dice.choice(ODD)}
            case _:
                return {**value, key: mutated_value(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.7:
        place = dice.randrange(len(value))
        return [*value[:place], mutated_value(value[place], dice), *value[place + 1 :]]
    return dice.choice(ODD)


def mutated_bytes(body: bytes, dice: random.Random) -> bytes:
    """The bytes with a few of them changed, dropped, doubled or cut off."""
    edited = bytearray(body)
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(edited) + 1)
        match dice.randrange(5):
            case 0:
                edited[place : place + 1] = bytes([dice.randrange(256)])
            case 1:
                del edited[place : place + dice.randint(1, 9)]
            case 2:
                edited[place:place] = edited[place : place + dice.randint(1, 30)]
            case 3:
                edited[place:place] = dice.choice([b"{", b"[" * 200, b'"', b"\\ud800", b"\xff", b"\0", b"]}"])
            case _:
                del edited[place:]
    return bytes(edited)


def answers_due(body: bytes) -> Counter[str]:
    """Which answers JSON-RPC asks for; `None` for an answer without an id, and nothing for what Python's own JSON reads differently."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return Counter(["null"])
    if not isinstance(message, dict):
        return Counter(["null"])
    request_id = message.get("id")
    known = json.dumps(request_id) if isinstance(request_id, str | int) and not isinstance(request_id, bool) else "null"
    if "method" not in message and ("result" in message or "error" in message):
        return Counter()
    if message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str) and "id" not in message:
        return Counter()
    return Counter([known])


def body_of(dice: random.Random, request_id: int) -> bytes:
    seed = dice.choice(SEEDS)
    message: Any = {"jsonrpc": "2.0", **seed}
    if "id" not in seed and not seed["method"].startswith(("textDocument/", "$/", "window/", "gemini/notice", "workspace/did")):
        message["id"] = request_id
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        message = mutated_value(message, dice)
    body = json.dumps(message, ensure_ascii=dice.random() < 0.5 or True).encode()
    return mutated_bytes(body, dice) if dice.random() < 0.3 else body


async def collect(process: ProcessClient, until: str) -> list[dict[str, Any]]:
    """Everything the server says up to the answer with this id, which is not part of it."""
    said: list[dict[str, Any]] = []
    while (message := await process.receive()).get("id") != until or "method" in message:
        said.append(message)
    return said


async def release(process: ProcessClient) -> None:
    """Cancel whatever may still wait."""
    process.send({"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": 7}})
    process.send({"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": "t"}})


async def campaign(process: ProcessClient, make: Callable[[random.Random, int], bytes], frames: int) -> None:
    dice = random.Random(SEED)
    for start in range(0, frames, IN_A_ROW):
        bodies = [body for number in range(IN_A_ROW) if not ends_the_session(body := make(dice, start + number))]
        due: Counter[str] = Counter()
        for body in bodies:
            due += answers_due(body)
            process.send(frame(body))
        await release_all(process, due)
        probe = f"probe {start}"
        answers = Counter[str]()
        missing = due.copy()
        process.send({"jsonrpc": "2.0", "id": probe, "method": "gemini/nothing"})
        answers.update(json.dumps(message["id"]) for message in await collect(process, probe))
        if answers != due:  # handlers that were cancelled late may answer after the probe
            process.send({"jsonrpc": "2.0", "id": probe, "method": "gemini/nothing"})
            answers.update(json.dumps(message["id"]) for message in await collect(process, probe))
        missing.subtract(answers)
        assert not +missing, f"no answer to {dict(+missing)} among {bodies}"
        assert not -missing, f"too many answers: {dict(-missing)} among {bodies}"


async def release_all(process: ProcessClient, due: Counter[str]) -> None:
    await release(process)
    for request_id in due:
        process.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": json.loads(request_id)}})


def ends_the_session(body: bytes) -> bool:
    """Whether the mutation made it an orderly end."""
    return b'"exit"' in body or b'"shutdown"' in body


async def test_every_mutated_request_is_answered_or_refused(process: ProcessClient):
    await campaign(process, body_of, FRAMES)
    assert (await process.request("shutdown"))["result"] is None
    process.send({"jsonrpc": "2.0", "method": "exit"})
    assert await process.ended() == 0


def broken_stream(dice: random.Random, request_id: int) -> bytes:
    """A frame whose header, too, may be broken. What it announces stays small, so that the padding below ends it."""
    header = b"Content-Length: %d\r\n\r\n"
    body = body_of(dice, request_id)
    match dice.randrange(6):
        case 0:
            return mutated_bytes(b"Content-Length: 17\r\nContent-Type: x\r\n\r\n", dice).replace(b"7777", b"7") + body
        case 1:
            return header % dice.choice([0, 1, len(body) // 2, len(body) + 50, 2**26 + 1]) + body
        case 2:
            return dice.choice([b"\r\n", b"garbage\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"content-length:5\r\n\r\n12345", b"\0" * 100])
        case 3:
            return body
        case _:
            return header % len(body) + body


async def test_after_any_stretch_of_broken_frames_the_next_request_is_answered(process: ProcessClient):
    dice = random.Random(SEED)
    for start in range(0, max(FRAMES // 10, IN_A_ROW), IN_A_ROW // 4):
        skipping = False
        for number in range(IN_A_ROW // 4):
            piece = broken_stream(dice, start + number)
            if not ends_the_session(piece):
                skipping |= b"67108865" in piece
                process.send(piece)
        process.send((b"\n" * (2**26 + 1) if skipping and dice.random() < 0.05 else b"") + b"\n" * 20_000)
        if skipping:
            await process.stop()
            process.__dict__.update((await ProcessClient.start(sample_server.__file__)).__dict__)
            await process.initialize()
            continue
        probe = f"probe {start}"
        process.send({"jsonrpc": "2.0", "id": probe, "method": "gemini/nothing"})
        async with asyncio.timeout(5):
            for message in await collect(process, probe):
                assert "result" in message or "error" in message or "method" in message
    process.stdin.close()
    assert await process.ended() == 0
