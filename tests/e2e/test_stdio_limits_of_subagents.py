"""What subagents may do over stdio: asked about in the chat, within its mode and budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_office import Office, handed
from tests.support.emulator import Emulator, Gate, answer, call


@pytest.fixture
def office(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Office:
    return Office(tmp_path, workspace, gemini_environment)


async def test_what_a_subagent_would_change_is_asked_about_in_the_chat_and_named_and_a_yes_for_the_session_holds(
    office: Office, emulator: Emulator
) -> None:
    def writes(name: str) -> Any:
        return answer(call("write_file", {"file_path": name, "content": "x = 1\n"}, call_id=name))

    emulator.script(answer(handed("Write.", "generalist")), writes("a.py"), writes("b.py"), "Written.", "Done.")
    async with office.server(answers="session") as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Go."})
        assert (office.workspace / "a.py").read_text("utf-8") == "x = 1\n"
        first = office.asked[0]
        assert (first["agent"], first["sessionId"], first["turnId"]) == (
            "Generalist",
            result["sessionId"],
            result["turnId"],
        )
        kinds = [event["type"] for event in spoken.events if event["type"].startswith("toolQuestion")]
        assert kinds[:2] == ["toolQuestionAsked", "toolQuestionAnswered"]
        rules = (await spoken.ask("gemini/rules", {}))["rules"]
        assert any(one["source"] == "session" for one in rules)


async def test_a_file_outside_that_only_the_model_names_in_a_task_is_not_taken_for_named_by_the_person(
    office: Office, emulator: Emulator
) -> None:
    outside = office.tmp_path / "private.txt"
    outside.write_text("secret words", "utf-8")
    emulator.script(
        answer(handed(f"Read {outside}")),
        answer(call("read_file", {"file_path": str(outside)}, call_id="r1")),
        "It was refused.",
        "Done.",
    )
    async with office.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Go."})
    assert all("secret words" not in str(one.contents) for one in emulator.asked("streamGenerateContent"))


async def test_in_plan_mode_a_subagent_has_no_tool_that_changes_anything(office: Office, emulator: Emulator) -> None:
    emulator.script("Hello.", answer(handed("Look.", "generalist")), "Seen.", "Done.")
    async with office.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Hi."})
        await spoken.ask("gemini/session/mode", {"sessionId": result["sessionId"], "mode": "plan"})
        await spoken.ask("gemini/chat", {"prompt": "Go."})
        child = emulator.asked("streamGenerateContent")[2]
        names = {declared["name"] for declared in child.declarations}
        assert "read_file" in names
        assert not names & {"write_file", "replace", "exit_plan_mode", "invoke_agent"}


async def test_the_tokens_of_a_subagent_count_for_the_turn_that_called_it(office: Office, emulator: Emulator) -> None:
    emulator.script(answer(handed("Look.")), "Seen.", "Done.")
    async with office.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Go."})
        assert result["turnUsage"]["utilityTokens"] > 0


async def test_what_a_subagent_wrote_is_asked_about_before_the_chat_runs_it(office: Office, emulator: Emulator) -> None:
    rule = {"tool": "run_shell_command", "command": ["python3", "tool.py"], "decision": "allow"}
    settings = office.tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"companion": {"tools": {"rules": [rule]}}}), "utf-8")
    (office.workspace / "tool.py").write_text("print(1)\n", "utf-8")
    emulator.script(
        answer(handed("Write.", "generalist")),
        answer(call("read_file", {"file_path": "tool.py"}, call_id="r")),
        answer(call("write_file", {"file_path": "tool.py", "content": "print(2)\n"}, call_id="w")),
        "Written.",
        answer(call("run_shell_command", {"command": "python3 tool.py"}, call_id="x")),
        "Done.",
    )
    async with office.server(answers="reject") as spoken:
        session = (await spoken.ask("gemini/session/new", {}))["sessionId"]
        await spoken.ask("gemini/session/mode", {"sessionId": session, "mode": "acceptEdits"})
        await spoken.ask("gemini/chat", {"prompt": "Go."})
    assert [question["name"] for question in office.asked] == ["run_shell_command"]


async def test_what_a_subagent_spends_is_spent_of_the_chats_budget(office: Office, emulator: Emulator) -> None:
    settings = office.tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"companion": {"budget": {"sessionTokens": 9000}}}', "utf-8")
    read = call("read_file", {"file_path": "parser.py"}, call_id="r")
    emulator.script(answer(handed("Look.")), answer(read), answer(read), answer(read), "Seen.", "Done.")
    async with office.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Go."})
        assert result["stopped"] == "budget"
        assert [event["outcome"] for event in spoken.events if event["type"] == "budgetUsed"][-1] == "stopped"


async def test_a_daemon_that_is_killed_while_a_subagent_works_leaves_the_call_in_the_chat(
    office: Office, emulator: Emulator
) -> None:
    gate = Gate()
    emulator.script(answer(handed("Look.")), answer("I look", gate, "."))
    async with office.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "Go."})
        await gate.wait_reached()
        session = spoken.envelopes[-1]["sessionId"]
        await spoken.kill()
        chat.cancel()
    gate.release()
    emulator.script("It goes on.", method="streamGenerateContent")
    async with office.server() as spoken:
        await spoken.ask("gemini/session/open", {"sessionId": session, "takeOver": True})
        assert (await spoken.ask("gemini/chat/resume", {"sessionId": session}))["text"] == "It goes on."
    (response,) = emulator.asked("streamGenerateContent")[-1].responses
    assert "restarted" in str(response["response"])
