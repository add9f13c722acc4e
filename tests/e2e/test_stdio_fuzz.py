"""Mutated frames on the standard input of a real process: each request gets an answer or a clean refusal, and nothing
hangs or crashes.

`COMPANION_FUZZ_FRAMES=100000` runs the whole campaign; `COMPANION_FUZZ_SEED` repeats another one.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gemini_companion.engine.escapes import well_formed
from gemini_companion.protocol.frames import frame
from tests.support import sample_server
from tests.support.wire import ProcessClient

FRAMES = int(os.environ.get("COMPANION_FUZZ_FRAMES", "3000"))
SEED = int(os.environ.get("COMPANION_FUZZ_SEED", "20261121"))
IN_A_ROW = 200
"""Frames sent before their answers are looked at."""
PADDING = b"\n" * 20_000
"""Ends whatever body a broken header announced; between messages, empty lines mean nothing."""

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e308,
    10**40,
    "",
    "\ud800",
    "é\0",
    "$",
    [],
    [[]],
    {},
    {"jsonrpc": "2.0", "method": "exit"},
    "x" * 5000,
)
URI = "file:///w/a.py"
SEEDS: tuple[dict[str, Any], ...] = (
    {
        "method": "gemini/echo",
        "params": {"sessionId": "s", "parts": [{"text": "hi", "weight": 2.0}], "maxTokens": 5, "view": "model"},
    },
    {"method": "gemini/nothing"},
    {"method": "gemini/notice", "params": {"number": 1}},
    {"method": "sample/fail", "params": {"name": "defect"}},
    {"method": "sample/unencodable", "params": {}},
    {"method": "sample/surrogate"},
    {"method": "sample/commit", "params": {"workDoneToken": "t"}},
    {"method": "sample/wait", "params": {"name": "w", "workDoneToken": 7}},
    {"method": "workspace/executeCommand", "params": {"command": "sample.echo", "arguments": [{"sessionId": "s"}]}},
    {
        "method": "initialize",
        "params": {"processId": 1, "rootUri": None, "capabilities": {"general": {"positionEncodings": ["utf-8"]}}},
    },
    {
        "method": "textDocument/didOpen",
        "params": {"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": "a\nb\n"}},
    },
    {
        "method": "textDocument/didChange",
        "params": {
            "textDocument": {"uri": URI, "version": 2},
            "contentChanges": [
                {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 1}}, "text": "c"}
            ],
        },
    },
    {"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}},
    {
        "method": "workspace/didChangeWorkspaceFolders",
        "params": {"event": {"added": [{"uri": "file:///w", "name": "w"}], "removed": []}},
    },
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
                return {
                    **value,
                    dice.choice(["extra", key + "x", "type_name", "jsonrpc", "__class__"]): dice.choice(ODD),
                }
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
    """The ids of the answers that JSON-RPC asks for to one body, as JSON; `null` for what could not be read so far."""
    try:
        message = json.loads(body.decode(), parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError):
        return Counter(["null"])
    if not isinstance(message, dict):
        return Counter(["null"])
    is_answer = "method" not in message and ("result" in message or "error" in message)
    is_notification = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str) and "id" not in message
    return Counter() if is_answer or is_notification else Counter([id_of(message)])


def refuse(constant: str) -> None:
    raise ValueError(constant)


def finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else refuse(number) or 0.0


def id_of(message: dict[str, Any]) -> str:
    request_id = message.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return "null"
    return json.dumps(well_formed(request_id) if isinstance(request_id, str) else request_id)


def mutant(dice: random.Random, request_id: int) -> bytes:
    """A body that was a message before up to three mutations; never one that ends the session in order."""
    seed = dice.choice(SEEDS)
    message: Any = {"jsonrpc": "2.0", **seed}
    if seed.get("method", "").startswith(
        ("gemini/echo", "gemini/nothing", "sample/", "workspace/executeCommand", "initialize")
    ):
        message["id"] = request_id
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        message = mutated_value(message, dice)
    body = json.dumps(message).encode()
    if dice.random() < 0.3:
        body = mutated_bytes(body, dice)
    return b"{}" if re.search(rb'^[^\[]{0,60}"method": "(exit|shutdown)"', body) else body


async def answers_before(process: ProcessClient, probe: str) -> list[str]:
    """The ids of all answers up to the one to a last, sound request."""
    process.send({"jsonrpc": "2.0", "id": probe, "method": "gemini/nothing"})
    ids: list[str] = []
    while (message := await process.receive()).get("id") != probe:
        assert "result" in message or message["error"]["data"]["kind"]
        ids.append(json.dumps(message["id"]))
    assert message == {"jsonrpc": "2.0", "id": probe, "result": None}
    return ids


async def test_every_mutated_request_is_answered_or_refused_exactly_once(process: ProcessClient):
    dice = random.Random(SEED)
    for start in range(0, FRAMES, IN_A_ROW):
        bodies = [mutant(dice, number) for number in range(start, start + IN_A_ROW)]
        due: Counter[str] = Counter()
        for body in bodies:
            due += answers_due(body)
            process.send(frame(body))
        for request_id in due:  # so that none of them waits any longer
            process.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": json.loads(request_id)}})
        given = Counter(await answers_before(process, f"probe {start}"))
        assert given == due, f"missing {due - given}, unasked {given - due}, among {bodies}"
    assert (await process.request("shutdown"))["result"] is None
    process.send({"jsonrpc": "2.0", "method": "exit"})
    assert await process.ended() == 0


def broken_piece(dice: random.Random, request_id: int) -> bytes:
    """A frame whose header, too, may be broken. The body that it announces is never longer than `PADDING`."""
    body = mutant(dice, request_id)
    match dice.randrange(6):
        case 0:
            header = mutated_bytes(b"Content-Length: 17\r\nContent-Type: x\r\n\r\n", dice)
            return body if re.search(rb"[0-9]{5}", header) else header + body
        case 1:
            return b"Content-Length: %d\r\n\r\n%b" % (dice.choice([0, 1, len(body) // 2, len(body) + 50]), body)
        case 2:
            return dice.choice(
                [
                    b"\r\n",
                    b"garbage\r\n\r\n",
                    b"Content-Length: -5\r\n\r\n",
                    b"content-length:5\r\n\r\n12345",
                    b"\0" * 100,
                ]
            )
        case 3:
            return body
        case _:
            return frame(body)


async def test_after_any_stretch_of_broken_frames_the_next_request_is_answered(process: ProcessClient):
    dice = random.Random(SEED)
    for start in range(0, FRAMES // 3, IN_A_ROW // 4):
        for number in range(start, start + IN_A_ROW // 4):
            process.send(broken_piece(dice, number))
        process.send(PADDING)
        await answers_before(process, f"probe {start}")
    process.stdin.close()
    assert await process.ended() == 0
