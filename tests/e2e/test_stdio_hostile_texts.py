"""Texts that files, databases and systems trip over, in every parameter of every method of the real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.protocol.table import REQUESTS
from tests.support.editor_client import server_environment
from tests.support.wire import ProcessClient

pytestmark = pytest.mark.asyncio

TEXTS = (
    "a\0b",
    "\0",
    "\ud800",
    "x\udfffy",
    "\x1b[31m\x07\x08",
    "\u202e\u2028\u0085",
    "\r\n\r\n",
    "../\0",
    "%00",
    "'\"; --",
    "*",
    '"',
)
INTERNAL_ERROR = -32603


def requests(session_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each text at each parameter that takes one, the others as they have to be."""
    for row in REQUESTS:
        fields = msgspec.structs.fields(row.params)
        required: dict[str, Any] = {field.encode_name: "x" for field in fields if field.required}
        for name, value in (("sessionId", session_id), ("on", True), ("stars", 3), ("view", "transcript")):
            if name in required:
                required[name] = value
        for field in fields:
            if "str" in str(field.type):
                for text in TEXTS:
                    yield row.name, {**required, field.encode_name: text}
    for text in TEXTS:
        yield "gemini/chat", {"prompt": [{"text": text}, {"inlineData": {"mimeType": text, "data": "AA=="}}]}
        yield "gemini/chat", {"prompt": f"@{text} @file{text}.py"}
        yield "gemini/pin", {"text": text}
        yield "gemini/session/import", {"path": f"/{text}"}


async def test_no_text_becomes_an_internal_error_and_what_was_stored_can_be_read_again(tmp_path: Path) -> None:
    environment = server_environment(tmp_path)
    client = await ProcessClient.start("-m", "gemini_companion", "serve", env=environment)
    await client.initialize()
    session = (await client.request("gemini/session/new", {}, "new"))["result"]["sessionId"]
    asked = [(method, params) for method, params in requests(session) if method != "gemini/session/delete"]
    assert {method for method, _ in asked} > {"gemini/chat", "gemini/session/new", "gemini/pin"}
    broken: list[object] = []
    for number, (method, params) in enumerate(asked):
        answer = await client.request(method, params, number)
        if answer.get("error", {}).get("code") == INTERNAL_ERROR:
            broken.append((method, params, answer["error"]["message"]))
    assert broken == []
    for number, text in enumerate(TEXTS):
        files = [{"uri": f"file:///{text}", "lastFocusedAt": 1, "isActive": True, "selectedText": text}]
        client.send({"jsonrpc": "2.0", "method": "gemini/ideContext/didChange", "params": {"openFiles": files}})
        assert "result" in await client.request("gemini/chat", {"prompt": "go on"}, f"with editor {number}")
    listed = await client.request("gemini/session/list", {"limit": 500}, "list")
    for info in listed["result"]["sessions"]:
        for method, more in (("open", {}), ("history", {"view": "transcript"}), ("export", {"format": "companion"})):
            answer = await client.request(f"gemini/session/{method}", {"sessionId": info["sessionId"], **more}, "again")
            assert "result" in answer, (method, answer)
    assert json.dumps(listed)
    await client.stop()
