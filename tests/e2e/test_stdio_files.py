"""Files that go along with a prompt over the wire, and those that may not."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor
from tests.support.emulator import Emulator

pytestmark = pytest.mark.asyncio


async def test_a_secret_file_reaches_no_model(online: Editor, emulator: Emulator, workspace: Path) -> None:
    online.open(workspace / ".env")
    online.open(workspace / "parser.py")
    await online.ask("gemini/chat", {"prompt": "hello"})
    assert "hunter2" not in json.dumps([request.body for request in emulator.requests])
    withheld = online.of("ideContextSent")[0]["withheld"]
    assert [item["name"] for item in withheld] == [".env"]
    preview = await online.ask("gemini/context/preview")
    assert preview["kind"] == "none"


async def test_a_file_named_with_an_at_sign_goes_along_and_the_transcript_knows_which_parts_are_the_files(
    online: Editor, emulator: Emulator
) -> None:
    found = await online.ask("gemini/files", {"query": "prs"})
    assert [file["path"] for file in found["files"]] == ["parser.py"]
    await online.ask(
        "gemini/chat", {"prompt": f"What does @{found['files'][0]['path']} do? And @.env, and me@parser.py?"}
    )
    sent = emulator.asked("streamGenerateContent")[0].body["contents"][-1]["parts"]
    assert "def parse(text):" in sent[-1]["text"]
    assert "hunter2" not in json.dumps([request.body for request in emulator.requests])
    told = online.of("filesAttached")[0]
    assert [(Path(file["path"]).name, file["lines"]) for file in told["files"]] == [("parser.py", [1, 2])]
    assert told["withheld"] == [{"name": ".env", "reason": "a secret by its name"}]
    prompt = (await online.ask("gemini/session/history", {"view": "transcript"}))["contents"][0]
    assert len(prompt["parts"]) == 1 + len(prompt["attachments"])
    assert prompt["parts"][0]["text"].startswith("What does @parser.py do?")
    pin = await online.ask("gemini/pin", {"turnId": prompt["turnId"]})
    assert pin["text"] == prompt["parts"][0]["text"]


async def test_a_file_taken_out_by_the_person_reaches_no_model(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    uri = (workspace / "parser.py").as_uri()
    online.open(workspace / "parser.py", "def parse(text):\n    return hidden_idea(text)\n")
    notice = {"openFiles": [{"uri": uri, "lastFocusedAt": 1, "isActive": True, "selectedText": "hidden_idea"}]}
    await online.ask("gemini/session/new")
    online.notify("gemini/ideContext/didChange", {**notice, "excluded": [uri, "untitled:Untitled-1"]})
    preview = await online.ask("gemini/context/preview")
    assert preview["withheld"] == [{"name": "parser.py", "reason": "taken out by you"}]
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    actions = await online.ask(
        "textDocument/codeAction", {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": []}}
    )
    assert [action["disabled"]["reason"] for action in actions] == ["Gemini is not shown parser.py: taken out by you."]
    await online.ask("gemini/chat", {"prompt": "hello"})
    assert "hidden_idea" not in json.dumps([request.body for request in emulator.requests])
    online.notify("gemini/ideContext/didChange", notice)
    await online.ask("gemini/chat", {"prompt": "and now?"})
    assert "hidden_idea" in json.dumps(emulator.asked("streamGenerateContent")[-1].body)


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def sent_parts(emulator: Emulator) -> list[Any]:
    """The parts of all contents that were sent."""
    contents = [content for request in emulator.requests for content in request.body.get("contents", ())]
    return [part for content in contents for part in content["parts"]]


async def test_a_picture_named_with_an_at_sign_goes_along_as_a_picture_and_stays_out_of_what_was_typed(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    (workspace / "pic.png").write_bytes(PIXEL)
    (workspace / "big.png").write_bytes(PIXEL + bytes(10 * 1024 * 1024))
    checked = await online.ask("gemini/prompt/check", {"prompt": "@pic.png @big.png"})
    assert [(one["found"], one.get("reason", "")) for one in checked["mentions"]] == [
        ("file", ""),
        ("nothing", "over 10 MB of pictures in all"),
    ]
    prompt = "What is on @pic.png? And on @big.png?"
    await online.ask("gemini/chat", {"prompt": prompt})
    picture = {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PIXEL).decode()}}
    assert picture in sent_parts(emulator)
    (event,) = online.of("filesAttached")
    assert [file["path"].endswith("pic.png") for file in event["files"]] == [True]
    assert event["withheld"] == [{"name": "big.png", "reason": "over 10 MB of pictures in all"}]
    history = await online.ask("gemini/session/history", {"view": "transcript"})
    (item,) = [item for item in history["contents"] if item["kind"] == "prompt"]
    assert item["parts"] == [{"text": prompt}, picture]
    assert len(item["attachments"]) == 1
    emulator.requests.clear()
    await online.ask("gemini/chat", {"prompt": "thank you"})
    assert picture in sent_parts(emulator)
