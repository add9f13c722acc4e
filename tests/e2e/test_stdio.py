"""The real server over stdio, as an editor uses it: once with the built-in model, once with the real SDK against the emulator."""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, faults, slow

pytestmark = pytest.mark.asyncio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "parser.py").write_text("def parse(text):\n    return text.split()\n", "utf-8")
    (folder / ".env").write_text("TOKEN=hunter2\n", "utf-8")
    return folder


@pytest.fixture
async def offline(tmp_path: Path, workspace: Path) -> AsyncIterator[Editor]:
    async with editor(server_environment(tmp_path), workspace, options={"trusted": True}) as spoken:
        yield spoken


@pytest.fixture
async def online(tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]) -> AsyncIterator[Editor]:
    async with editor(server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}) as spoken:
        yield spoken


async def fill(spoken: Editor, rounds: int = 6, words: int = 300) -> None:
    for number in range(rounds):
        await spoken.ask("gemini/chat", {"prompt": f"note {number}: " + f"word{number} " * words})


async def test_an_editor_without_a_plugin_chats_compresses_and_undoes(offline: Editor, workspace: Path) -> None:
    offline.open(workspace / "parser.py")
    first = await offline.ask("gemini/chat", {"prompt": "Never touch legacy/. What does parse do?"})
    assert first["model"] == "offline"
    assert "offline" in first["text"]
    assert "parser.py" in first["text"]
    assert "".join(event["text"] for event in offline.of("messageDelta")) == first["text"]
    assert offline.of("ideContextSent")[0]["kind"] == "full"
    await fill(offline)
    before = await offline.ask("gemini/session/history", {"view": "model"})
    result = await offline.ask("gemini/compress", {"workDoneToken": "bar"})
    assert result["status"] == "COMPRESSED"
    assert result["tokenCountSource"] == "estimate"
    assert "Never touch legacy/." in result["snapshot"]
    assert {note["value"]["kind"] for note in offline.progress if note["token"] == "bar"} == {"begin", "report", "end"}
    status = await offline.ask("gemini/compressionStatus")
    assert status["state"] == "idle"
    assert status["canUndo"] is True
    assert status["forceFullIdeContext"] is True
    assert status["last"]["compactionId"] == result["compactionId"]
    await offline.ask("gemini/chat", {"prompt": "and now?"})
    assert [event["kind"] for event in offline.of("ideContextSent")][-1] == "full"
    undone = await offline.ask("gemini/compression/undo")
    assert undone["undone"] == [result["compactionId"]]
    after = await offline.ask("gemini/session/history", {"view": "model"})

    def said(page: Any) -> list[Any]:
        return [(item["role"], item["parts"]) for item in page["contents"] if item["kind"] != "ide"]

    assert said(after)[: len(said(before))] == said(before)


async def test_the_real_sdk_streams_counts_and_compresses(online: Editor, emulator: Emulator, workspace: Path) -> None:
    online.open(workspace / "parser.py")
    await fill(online)
    streamed = emulator.asked("streamGenerateContent")
    assert len(streamed) == 6
    result = await online.ask("gemini/compress", {"instructions": "keep the numbers"})
    assert result["status"] == "COMPRESSED"
    assert result["tokenCountSource"] == "api"
    assert result["modelCalls"] == 2
    assert len(emulator.asked("generateContent")) >= 2
    assert len(emulator.asked("countTokens")) == 2
    context = await online.ask("gemini/context")
    assert sum(context["byPart"].values()) == context["tokenCount"]


async def test_a_secret_file_reaches_no_model(online: Editor, emulator: Emulator, workspace: Path) -> None:
    online.open(workspace / ".env")
    online.open(workspace / "parser.py")
    await online.ask("gemini/chat", {"prompt": "hello"})
    assert "hunter2" not in json.dumps([request.body for request in emulator.requests])
    withheld = online.of("ideContextSent")[0]["withheld"]
    assert [item["name"] for item in withheld] == [".env"]
    preview = await online.ask("gemini/context/preview")
    assert preview["kind"] == "none"


async def test_cancel_by_all_three_routes_answers_within_the_bound_and_the_session_goes_on(online: Editor, emulator: Emulator) -> None:
    for number, route in enumerate(("request", "progress", "method"), start=1):
        reply = slow("one ", "two ")
        emulator.script(reply, method="streamGenerateContent")
        chat = online.start("gemini/chat", {"prompt": f"go {route}", "workDoneToken": f"bar-{number}"}, request_id=f"chat-{number}")
        await emulator.wait_for_request(number, "streamGenerateContent")
        if route == "request":
            online.client.cancel_request(lsp.CancelParams(id=f"chat-{number}"))
        elif route == "progress":
            online.client.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(token=f"bar-{number}"))
        else:
            assert (await online.ask("gemini/cancel"))["cancelled"] is True
        with pytest.raises(JsonRpcException) as error:
            await chat
        assert error.value.code == -32800
        await online.wait_for("turnCancelled", number)
    emulator.release()
    transcript = await online.ask("gemini/session/history", {"view": "transcript"})
    assert [item["outcome"] for item in transcript["contents"]] == ["cancelled"] * 3
    assert (await online.ask("gemini/session/history", {"view": "model"}))["contents"] == []
    emulator.script(answer("Here I am."), method="streamGenerateContent")
    assert (await online.ask("gemini/chat", {"prompt": "still there?"}))["text"] == "Here I am."


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (faults.invalid_key, 1004),
        (faults.forbidden, 1004),
        (faults.unknown_model, 1003),
        (faults.prompt_blocked, 1010),
        (faults.stopped, 1010),
    ],
)
async def test_a_fault_of_the_service_is_a_typed_error_and_nothing_is_half_written(online: Editor, emulator: Emulator, fault: Any, code: int) -> None:
    emulator.script(fault(), method="streamGenerateContent")
    error = await online.fails("gemini/chat", {"prompt": "go"})
    assert error.code == code
    assert error.data is not None
    assert online.of("turnFailed")[0]["error"]["code"] == code
    assert (await online.ask("gemini/session/history", {"view": "model"}))["contents"] == []
    emulator.script(answer("Fine."), method="streamGenerateContent")
    assert (await online.ask("gemini/chat", {"prompt": "again"}))["text"] == "Fine."


PASSING = [faults.internal, faults.unavailable, faults.drop_mid_stream, faults.malformed_event, faults.error_event, faults.empty]


@pytest.mark.parametrize("fault", PASSING)
async def test_a_fault_that_passes_is_retried_and_told(online: Editor, emulator: Emulator, fault: Any) -> None:
    emulator.script(fault(), answer("After all."), method="streamGenerateContent")
    result = await online.ask("gemini/chat", {"prompt": "go"})
    assert result["text"] == "After all."
    history = await online.ask("gemini/session/history", {"view": "model"})
    assert [item["parts"] for item in history["contents"]][-1] == [{"text": "After all."}]


async def test_events_of_a_session_rise_strictly(offline: Editor) -> None:
    await offline.ask("gemini/chat", {"prompt": "one"})
    await offline.ask("gemini/chat", {"prompt": "two"})
    numbers = [envelope["seq"] for envelope in offline.envelopes]
    assert numbers == sorted(set(numbers))
    page = await offline.ask("gemini/events/replay", {"sessionId": offline.envelopes[0]["sessionId"], "afterSeq": 0})
    assert [event["event"]["type"] for event in page["events"]].count("turnCompleted") == 2


async def test_commands_answer_with_the_same_and_tell_the_person(offline: Editor) -> None:
    chat = await offline.ask("workspace/executeCommand", {"command": "gemini.chat", "arguments": [{"prompt": "hello"}]})
    assert chat["model"] == "offline"
    shown = await offline.ask("workspace/executeCommand", {"command": "gemini.compress", "arguments": []})
    assert shown["status"] in ("NOOP", "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT")
    assert offline.messages[-1] == shown["message"]
    await offline.ask("workspace/executeCommand", {"command": "gemini.showContext"})
    assert "tokens" in offline.messages[-1]


async def test_code_actions_ask_about_the_range_and_become_the_selection(offline: Editor, workspace: Path) -> None:
    path = workspace / "parser.py"
    offline.open(path)
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 24}}
    diagnostic = {"range": where, "message": "missing type", "severity": 2}
    actions = await offline.ask(
        "textDocument/codeAction", {"textDocument": {"uri": path.as_uri()}, "range": where, "context": {"diagnostics": [diagnostic]}}
    )
    assert [action["title"] for action in actions] == ["Ask Gemini about this", "Explain", "Fix this diagnostic"]
    command = ast.literal_eval(actions[2]["command"])  # lsprotocol takes every code action with a command for a bare command
    result = await offline.ask("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})
    assert result["sessionId"]
    assert offline.of("ideContextSent")[0]["selectionChars"] > 20


async def test_a_key_that_is_missing_is_told_with_what_to_do(offline: Editor) -> None:
    models = await offline.ask("gemini/models")
    assert models["provider"] == "offline"
    assert "GEMINI_API_KEY" in models["hint"]


async def test_a_broken_settings_file_is_told_and_the_server_goes_on(tmp_path: Path, workspace: Path) -> None:
    settings = tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"model": {"compressionThreshold": "half"}}', "utf-8")
    async with editor(server_environment(tmp_path), workspace) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "hello"})
        async with asyncio.timeout(10):
            while not any("compressionThreshold" in message for message in spoken.messages):
                await asyncio.sleep(0)


async def test_the_settings_file_is_followed_while_running(tmp_path: Path, workspace: Path) -> None:
    settings = tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    async with editor(server_environment(tmp_path), workspace) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "hello"})
        settings.write_text('{"model": {"compressionThreshold": 0.25}}', "utf-8")
        event = await spoken.wait_for("settingsChanged")
        assert event["keys"] == ["model.compressionThreshold"]
        assert (await spoken.ask("gemini/compressionStatus"))["threshold"] == 0.25


async def test_killed_at_any_moment_nothing_acknowledged_is_lost(tmp_path: Path, workspace: Path) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as spoken:
        first = await spoken.ask("gemini/chat", {"prompt": "remember the port 8123"})
        chat = spoken.start("gemini/chat", {"prompt": "and another thing " * 200})
        await spoken.wait_for("turnStarted", 2)
        await spoken.kill()
        chat.cancel()
        await asyncio.gather(chat, return_exceptions=True)
    async with editor(environment, workspace) as again:
        info = await again.ask("gemini/session/open", {"sessionId": first["sessionId"]})
        assert info["sessionId"] == first["sessionId"]
        transcript = (await again.ask("gemini/session/history", {"view": "transcript"}))["contents"]
        assert transcript[0]["parts"] == [{"text": "remember the port 8123"}] or transcript[1]["parts"] == [{"text": "remember the port 8123"}]
        assert (await again.ask("gemini/compressionStatus"))["state"] == "idle"
        result = await again.ask("gemini/chat", {"prompt": "which port?"})
        assert "8123" in result["text"]


async def test_two_servers_on_one_store_lose_nothing_and_the_second_is_told_who_holds_the_session(tmp_path: Path, workspace: Path) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as first, editor(environment, workspace) as second:
        started = await first.ask("gemini/chat", {"prompt": "remember the port 8123"})
        listed = await second.ask("gemini/session/list", {"query": "8123"})
        assert [info["sessionId"] for info in listed["sessions"]] == [started["sessionId"]]
        assert isinstance(listed["sessions"][0]["heldBy"], int)
        await second.ask("gemini/session/open", {"sessionId": started["sessionId"]})
        refused = await second.fails("gemini/chat", {"prompt": "mine"})
        assert refused.code == 1002
        held = {"sessionId": started["sessionId"]}
        read = await second.ask("gemini/session/history", {**held, "view": "transcript"})
        assert read["contents"][0]["parts"] == [{"text": "remember the port 8123"}]
        assert (await second.ask("gemini/compression/list", held))["compactions"] == []
        assert (await second.ask("gemini/context", held))["tokenCount"] > 0
        opened = await second.ask("gemini/session/open", held)
        assert opened["heldBy"] == listed["sessions"][0]["heldBy"]
        own = await second.ask("gemini/session/new", {})
        results = await asyncio.gather(
            *(first.ask("gemini/chat", {"prompt": f"one {number}"}) for number in range(5)),
            *(second.ask("gemini/chat", {"prompt": f"two {number}"}) for number in range(5)),
        )
        assert {result["sessionId"] for result in results} == {started["sessionId"], own["sessionId"]}
        for spoken, session_id, count in ((first, started["sessionId"], 12), (second, own["sessionId"], 10)):
            said = (await spoken.ask("gemini/session/history", {"sessionId": session_id, "view": "transcript"}))["contents"]
            said = [item for item in said if item["kind"] != "ide"]
            assert len(said) == count
            assert not any(item.get("outcome") for item in said)


async def test_a_file_named_with_an_at_sign_goes_along_and_the_transcript_knows_which_parts_are_the_files(online: Editor, emulator: Emulator) -> None:
    found = await online.ask("gemini/files", {"query": "prs"})
    assert [file["path"] for file in found["files"]] == ["parser.py"]
    await online.ask("gemini/chat", {"prompt": f"What does @{found['files'][0]['path']} do? And @.env, and me@parser.py?"})
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


async def test_a_file_taken_out_by_the_person_reaches_no_model(online: Editor, emulator: Emulator, workspace: Path) -> None:
    uri = (workspace / "parser.py").as_uri()
    online.open(workspace / "parser.py", "def parse(text):\n    return hidden_idea(text)\n")
    notice = {"openFiles": [{"uri": uri, "lastFocusedAt": 1, "isActive": True, "selectedText": "hidden_idea"}]}
    await online.ask("gemini/session/new")
    online.tell("gemini/ideContext/didChange", {**notice, "excluded": [uri, "untitled:Untitled-1"]})
    preview = await online.ask("gemini/context/preview")
    assert preview["withheld"] == [{"name": "parser.py", "reason": "taken out by you"}]
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    actions = await online.ask("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": []}})
    assert [action["disabled"]["reason"] for action in actions] == ["Gemini is not shown parser.py: taken out by you."]
    await online.ask("gemini/chat", {"prompt": "hello"})
    assert "hidden_idea" not in json.dumps([request.body for request in emulator.requests])
    online.tell("gemini/ideContext/didChange", notice)
    await online.ask("gemini/chat", {"prompt": "and now?"})
    assert "hidden_idea" in json.dumps(emulator.asked("streamGenerateContent")[-1].body)


async def test_an_answer_is_given_anew_over_the_wire(online: Editor, emulator: Emulator) -> None:
    emulator.script(answer("First."), answer("Second."), method="streamGenerateContent")
    first = await online.ask("gemini/chat", {"prompt": "go"})
    second = await online.ask("gemini/chat", {"prompt": "go", "replaces": first["turnId"]})
    assert second["text"] == "Second."
    assert "First." not in json.dumps(emulator.asked("streamGenerateContent")[-1].body)
    transcript = (await online.ask("gemini/session/history", {"view": "transcript"}))["contents"]
    assert [item.get("outcome") for item in transcript] == ["replaced", "replaced", None, None]
    refused = await online.fails("gemini/chat", {"prompt": "go", "replaces": first["turnId"]})
    assert refused.code == -32602
