"""What is decoded: for each kind some sound input, and the real code that reads it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import httpx2

from gemini_companion.adapters.gemini.answer import chunk_of
from gemini_companion.adapters.gemini.body import Body
from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.sdk import Connection
from gemini_companion.adapters.gemini.transport import http_client
from gemini_companion.adapters.workspace.patterns import Rules, TooLarge
from gemini_companion.engine.errors import InvalidInput, ModelFault
from gemini_companion.engine.history.log import decode_entry, encode_entry
from gemini_companion.protocol.codec import decode_params
from gemini_companion.protocol.frames import FrameFault, FrameParser, frame
from gemini_companion.protocol.table import REQUESTS
from gemini_companion.sessions.interchange import decode_session_file
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.settings.load import SettingsLoader
from gemini_companion.settings.places import SETTINGS_FILE
from tests.fuzz.recalling import QUESTIONS, recalling
from tests.support.sample_server import create_sample_server

Feed = Callable[[bytes], Awaitable[None]]


class Kind(NamedTuple):
    """A kind of input. `open` gives what takes one; whatever that raises is a crash."""

    name: str
    seeds: Sequence[bytes]
    open: Callable[[], Any]
    is_frame: bool = False


class _Answers:
    """Where the server's answers go: counted, and dropped."""

    def __init__(self) -> None:
        self.count = 0

    def write(self, data: bytes) -> None:
        json.loads(data)
        self.count += 1

    def close(self) -> None:
        pass


@asynccontextmanager
async def _frames() -> AsyncGenerator[Feed]:
    """The reader of frames, the codec, dispatch, and the decoding of every method's params."""
    answers = _Answers()
    server = create_sample_server()
    server.dispatcher.set_writer(answers, include_headers=False)
    server.dispatcher.receive(
        json.dumps(_request("initialize", {"capabilities": {}, "processId": None, "rootUri": None})).encode()
    )
    types = [request.params for request in REQUESTS]
    count = 0

    async def feed(data: bytes) -> None:
        nonlocal count
        count += 1
        parser = FrameParser()
        parser.feed(data)
        while (item := parser.next()) is not None:
            if isinstance(item, FrameFault):
                server.dispatcher.refuse_frame(item.reason)
                continue
            if re.search(rb'"(?:shutdown|exit|sample/[a-z]+)"', item):  # these would end or hold the server
                continue
            server.dispatcher.receive(item)
            with suppress(ValueError, RecursionError):
                message = json.loads(item)
                if isinstance(message, dict):
                    with suppress(InvalidInput):
                        decode_params(types[count % len(types)], message.get("params"))

    yield feed


@asynccontextmanager
async def _settings() -> AsyncGenerator[Feed]:
    with TemporaryDirectory() as home:
        path = Path(home, SETTINGS_FILE)
        path.parent.mkdir()
        loader = SettingsLoader(Path(home), (), {"HOME": home})

        async def feed(data: bytes) -> None:
            path.write_bytes(data)
            loader.reload(trusted=True)

        yield feed


@asynccontextmanager
async def _variables() -> AsyncGenerator[Feed]:
    with TemporaryDirectory() as home:
        path = Path(home, "work", ".env")
        path.parent.mkdir()
        loader = SettingsLoader(Path(home, "home"), (str(path.parent),), {"HOME": home})

        async def feed(data: bytes) -> None:
            path.write_bytes(data)
            loader.reload(trusted=True)

        yield feed


@asynccontextmanager
async def _ignore() -> AsyncGenerator[Feed]:
    async def feed(data: bytes) -> None:
        with suppress(TooLarge):
            rules = Rules(data.decode("utf-8", "surrogateescape"))
            place = rules.top
            for name in ("src", "a" * 255, "node_modules", "[x].py"):
                rules.verdict(place, name, is_folder=True)
                place = rules.enter(place, name)

    yield feed


def _session_file(name: str) -> Callable[[], Any]:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Feed]:
        async def feed(data: bytes) -> None:
            with suppress(InvalidInput):
                decode_session_file(data, name)

        yield feed

    return opened


@asynccontextmanager
async def _entries() -> AsyncGenerator[Feed]:
    async def feed(data: bytes) -> None:
        with suppress(ValueError):  # what a reader of the store expects of a damaged entry
            encode_entry(decode_entry(data))

    yield feed


_KEPT: list[Connection] = []
"""The SDK closes itself in a task when it is collected: that must not be while an event loop ends."""


@asynccontextmanager
async def _stream() -> AsyncGenerator[Feed]:
    """A model's answer through the SDK, without a network."""
    data = b""

    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, content=data)

    options = GeminiOptions(api_key="k")
    async with http_client(options, httpx2.MockTransport(answer)) as http:
        connection = Connection(options, http)
        _KEPT.append(connection)

        async def feed(body: bytes) -> None:
            nonlocal data
            data = body
            pieces: list[Any] = []
            with suppress(ModelFault):
                await connection.stream("gemini-2.5-flash", Body.of({"contents": []}), pieces.append)
            for piece in pieces:
                if not isinstance(piece, ModelChunk):
                    with suppress(ModelFault):
                        chunk_of(piece)

        yield feed


def _request(method: str, params: object, request_id: object = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


_MESSAGES: Final = (
    _request("gemini/echo", {"sessionId": "s", "parts": [{"text": "Grüße 😀", "weight": 0.5}], "maxTokens": 3}),
    _request("gemini/chat", {"sessionId": "s", "prompt": [{"text": "hi"}], "model": "gemini-2.5-pro"}, "a"),
    _request("gemini/session/list", {"query": "x", "limit": 5}),
    _request("gemini/session/history", {"sessionId": "s", "view": "model", "cursor": "3.4"}),
    {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}},
    {
        "jsonrpc": "2.0",
        "method": "textDocument/didOpen",
        "params": {"textDocument": {"uri": "file:///a", "languageId": "py", "version": 1, "text": "x\ny"}},
    },
    {
        "jsonrpc": "2.0",
        "method": "textDocument/didChange",
        "params": {
            "textDocument": {"uri": "file:///a", "version": 2},
            "contentChanges": [
                {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 1}}, "text": "z"}
            ],
        },
    },
    {"jsonrpc": "2.0", "id": 4, "result": {"outcome": "yes"}},
    {"jsonrpc": "2.0", "id": 4, "error": {"code": -32603, "message": "no"}},
)
_SETTINGS: Final = (
    b'{\n  // a comment\n  "model": {"name": "gemini-2.5-pro", "compressionThreshold": 0.5},\n  "companion": {"trustedFolders": ["~/src"]}, /* x */\n  "context": {"fileName": "GEMINI.md"}\n}\n',
    b'{"general": {"a": "${HOME}/x", "b": "$USER"}, "mcpServers": {"x": {"command": "y", "args": ["\\u00e9", "\\ud83d\\ude00"]}}}',
)
_VARIABLES: Final = (
    b"# ours\nGEMINI_API_KEY=abc\nexport GEMINI_MODEL='gemini-2.5-pro' # note\nA=\"one\\ntwo\nthree\"\nB: `x`\n",
    b"GOOGLE_GEMINI_BASE_URL=https://example.org\r\nGEMINI_PROMPT_GIT_STATE=0\r\nGEMINI_SYSTEM_MD=~/x\r\n",
)
_IGNORE: Final = (
    b"# comment\n*.py[cod]\n!/keep/**/x\nbuild/\n**/gen/*.[!o]\na\\ b\\ \n[[:alpha:]_-]*\n",
    "é*ü?\n/foo/**\n[a-z0-9]*.log\r\n\\!x\n***/y\n".encode(),
)
_CONTENTS: Final = [
    {"role": "user", "parts": [{"text": "What is 2+2? 😀"}]},
    {
        "role": "model",
        "parts": [{"text": "think", "thought": True}, {"functionCall": {"name": "f", "args": {"a": [1, None]}}}],
    },
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "4"}}}]},
    {"role": "model", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": "4"}]},
]
_EXPORTS: Final = (
    gzip.decompress(Path(__file__, "../../data/version_0_1/session.gemini-cli.json.gz").resolve().read_bytes()),
    _json(_CONTENTS),
    _json({"history": _CONTENTS, "systemInstruction": {"parts": [{"text": "Be brief."}]}}),
    _json(
        {
            "sessionId": "s",
            "projectHash": "h",
            "startTime": "2026-01-01T00:00:00Z",
            "lastUpdated": "2026-01-01T00:00:00Z",
            "messages": [
                {"id": "1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": "hi"},
                {
                    "id": "2",
                    "timestamp": "2026-01-01T00:00:01Z",
                    "type": "gemini",
                    "content": "ho",
                    "toolCalls": [
                        {
                            "id": "c",
                            "name": "f",
                            "args": {},
                            "result": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}],
                            "status": "success",
                        }
                    ],
                },
            ],
        }
    ),
)
_JSONL: Final = (
    b"\n".join(
        map(
            _json,
            (
                {
                    "sessionId": "s",
                    "projectHash": "h",
                    "startTime": "2026-01-01T00:00:00Z",
                    "lastUpdated": "2026-01-01T00:00:00Z",
                    "kind": "main",
                },
                {"id": "1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": [{"text": "hi"}]},
                {
                    "id": "2",
                    "timestamp": "2026-01-01T00:00:01Z",
                    "type": "gemini",
                    "content": "ho",
                    "thoughts": [{"subject": "s", "description": "d"}],
                    "tokens": {"input": 1, "output": 2},
                },
                {"$set": {"lastUpdated": "2026-01-02T00:00:00Z"}},
                {"$rewindTo": "2"},
            ),
        )
    ),
)
_ENTRIES: Final = (
    _json({"type": "prompt", "id": "e1", "seq": 1, "time": 1, "turnId": "t", "content": _CONTENTS[0]}),
    _json(
        {
            "type": "reply",
            "id": "e2",
            "seq": 2,
            "time": 2,
            "turnId": "t",
            "content": _CONTENTS[1],
            "model": "m",
            "usage": {"promptTokenCount": 3},
        }
    ),
    _json({"type": "turnEnd", "id": "e3", "seq": 3, "time": 3, "turnId": "t", "outcome": "completed", "keptTo": 2}),
)
_EVENTS: Final = tuple(
    b"".join(b"data: " + _json(body) + b"\r\n\r\n" for body in bodies)
    for bodies in (
        (
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "He"}]}}]},
            {
                "candidates": [{"content": {"parts": [{"text": "llo"}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 3},
                "modelVersion": "m",
            },
        ),
        ({"promptFeedback": {"blockReason": "SAFETY"}},),
        (
            {
                "error": {
                    "code": 429,
                    "message": "slow down",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}],
                }
            },
        ),
    )
)

KINDS: Final = (
    Kind("frame", tuple(map(frame, map(_json, _MESSAGES))), _frames, is_frame=True),
    Kind("settings", _SETTINGS, _settings),
    Kind("variables", _VARIABLES, _variables),
    Kind("ignore", _IGNORE, _ignore),
    Kind("export", _EXPORTS, _session_file("session.json")),
    Kind("geminiCli", (*_JSONL, _EXPORTS[0]), _session_file("session.jsonl")),
    Kind("entry", _ENTRIES, _entries),
    Kind("stream", _EVENTS, _stream),
    Kind("recall", QUESTIONS, recalling),
)
