"""The real server over stdio, as an editor uses it: once with the built-in model, once with the real SDK against the
emulator.
"""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, faults, slow
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.asyncio


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
    assert status["last"]["compressionId"] == result["compressionId"]
    await offline.ask("gemini/chat", {"prompt": "and now?"})
    assert [event["kind"] for event in offline.of("ideContextSent")][-1] == "full"
    undone = await offline.ask("gemini/compression/undo")
    assert undone["undone"] == [result["compressionId"]]
    after = await offline.ask("gemini/session/history", {"view": "model"})

    def said(page: Any) -> list[Any]:
        return [(item["role"], item["parts"]) for item in page["contents"] if item["kind"] != "ide"]

    assert said(after)[: len(said(before))] == said(before)


async def test_an_editor_asks_where_a_line_of_a_snapshot_comes_from(offline: Editor) -> None:
    first = await offline.ask("gemini/chat", {"prompt": "Never touch legacy/. Note it."})
    await fill(offline)
    for preview in (True, False):  # by "split", where a snapshot stands alone, rules are among its lines
        result = await offline.ask("gemini/compress", {"preview": preview, "strategy": "split"})
        found = await offline.ask("gemini/compression/sources", {"compressionId": result["compressionId"]})
        lines = result["snapshot"].split("\n")
        rule = next(line for line in found["lines"] if "Never touch legacy/." in lines[line["line"]])
        assert rule["turnIds"] == [first["turnId"]]
        assert len(rule["entryIds"]) == 1
    with pytest.raises(JsonRpcException, match="no compression"):
        await offline.ask("gemini/compression/sources", {"compressionId": "none"})


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


async def test_cancel_by_all_three_routes_answers_within_the_bound_and_the_session_goes_on(
    online: Editor, emulator: Emulator
) -> None:
    for number, route in enumerate(("request", "progress", "method"), start=1):
        reply = slow("one ", "two ")
        emulator.script(reply, method="streamGenerateContent")
        chat = online.start(
            "gemini/chat", {"prompt": f"go {route}", "workDoneToken": f"bar-{number}"}, request_id=f"chat-{number}"
        )
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


async def test_a_page_of_the_transcript_has_what_came_of_a_cancelled_answer_and_no_view_has_it(
    online: Editor, emulator: Emulator
) -> None:
    emulator.script(slow("one ", "two "), method="streamGenerateContent")
    chat = online.start("gemini/chat", {"prompt": "count"}, request_id="chat")
    await online.wait_for("messageDelta")
    await online.ask("gemini/cancel")
    with pytest.raises(JsonRpcException):
        await chat
    emulator.release()
    (item,) = (await online.ask("gemini/session/history", {"view": "transcript"}))["contents"]
    assert (item["kind"], item["outcome"], item["shown"]) == ("prompt", "cancelled", {"text": "one "})
    assert item["by"].startswith("client-")
    assert (await online.ask("gemini/session/history", {"view": "model"}))["contents"] == []


LASTING = [
    (faults.invalid_key, 1004),
    (faults.forbidden, 1004),
    (faults.unknown_model, 1003),
    (faults.prompt_blocked, 1010),
    (faults.stopped, 1010),
]


async def test_a_fault_of_the_service_is_a_typed_error_and_nothing_is_half_written(
    online: Editor, emulator: Emulator
) -> None:
    """One daemon for all faults, a session for each: to start one takes longer than all that is asked of it here."""
    for fault, code in LASTING:
        told = fault.__name__
        await online.ask("gemini/session/new")
        emulator.script(fault(), method="streamGenerateContent")
        error = await online.fails("gemini/chat", {"prompt": "go"})
        assert error.code == code, told
        assert error.data is not None, told
        assert online.of("turnFailed")[-1]["error"]["code"] == code, told
        assert (await online.ask("gemini/session/history", {"view": "model"}))["contents"] == [], told
        emulator.script(answer("Fine."), method="streamGenerateContent")
        assert (await online.ask("gemini/chat", {"prompt": "again"}))["text"] == "Fine.", told
    assert len(online.of("turnFailed")) == len(LASTING)


PASSING = [
    faults.internal,
    faults.unavailable,
    faults.drop_mid_stream,
    faults.malformed_event,
    faults.error_event,
    faults.empty,
]


async def test_a_fault_that_passes_is_retried_and_told(online: Editor, emulator: Emulator) -> None:
    for fault in PASSING:
        told = fault.__name__
        await online.ask("gemini/session/new")
        emulator.script(fault(), answer("After all."), method="streamGenerateContent")
        result = await online.ask("gemini/chat", {"prompt": "go"})
        assert result["text"] == "After all.", told
        history = await online.ask("gemini/session/history", {"view": "model"})
        assert [item["parts"] for item in history["contents"]][-1] == [{"text": "After all."}], told


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
        "textDocument/codeAction",
        {"textDocument": {"uri": path.as_uri()}, "range": where, "context": {"diagnostics": [diagnostic]}},
    )
    assert [action["title"] for action in actions] == ["Ask Gemini about this", "Explain", "Fix this diagnostic"]
    command = ast.literal_eval(
        actions[2]["command"]
    )  # lsprotocol takes every code action with a command for a bare command
    result = await offline.ask(
        "workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]}
    )
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
        async with asyncio.timeout(PATIENCE):
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
