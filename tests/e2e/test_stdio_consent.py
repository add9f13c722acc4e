"""Consent over stdio: the real SDK, the emulated service, a person who answers through an editor."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.consent_server import COMMAND
from tests.support.editor_client import SERVER, Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.patience import PATIENCE

ROOT = str(Path(__file__).resolve().parents[2])
ALL = ["confirmTool", "askUser", "diagnostics"]


class Desk:
    """Starts servers over one home, and answers what they ask."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.tmp_path, self.workspace, self.gemini = tmp_path, workspace, gemini
        self.asked: list[tuple[str, Any]] = []

    @asynccontextmanager
    async def server(
        self,
        supports: list[str],
        answers: dict[str, Callable[[Any], Any]],
        *,
        trusted: bool = True,
        command: list[str] = COMMAND,
    ) -> AsyncGenerator[Editor]:
        environment = server_environment(self.tmp_path, **self.gemini)
        environment["PYTHONPATH"] += f":{ROOT}"
        options = {"trusted": trusted, "supports": supports}
        noted = {method: self._noting(method, respond) for method, respond in answers.items()}
        async with editor(environment, self.workspace, options=options, command=command, answers=noted) as spoken:
            yield spoken

    def _noting(self, method: str, respond: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def answer(question: Any) -> Any:
            self.asked.append((method, question))
            return respond(question)

        return answer


@pytest.fixture
def desk(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Desk:
    return Desk(tmp_path, workspace, gemini_environment)


def writes(emulator: Emulator, *contents: str) -> None:
    """Turns in which the model writes `new.py`."""
    for content in contents:
        args = {"file_path": "new.py", "content": content}
        emulator.script(answer(call("write_file", args, call_id=content)), "Done.", method="streamGenerateContent")


async def test_the_editor_is_asked_by_a_request_and_its_yes_lets_the_tool_write(desk: Desk, emulator: Emulator) -> None:
    writes(emulator, "x = 1")
    async with desk.server(ALL, {"gemini/confirmTool": lambda _: {"outcome": "once"}}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Write it."})
        assert (desk.workspace / "new.py").read_text("utf-8") == "x = 1"
        ((_, question),) = desk.asked
        assert (question["title"], question["newContent"]) == ("Edit new.py", "x = 1")
        assert question["rule"] == {
            "tool": "write_file",
            "decision": "allow",
            "path": "/new.py",
            "workspace": str(desk.workspace.resolve()),
        }
        assert [event["outcome"] for event in spoken.of("toolQuestionAnswered")] == ["once"]
        assert spoken.of("toolCallCompleted")[0]["consent"] == "yes, once"


async def test_an_editor_without_such_a_request_shows_a_message_with_buttons(desk: Desk, emulator: Emulator) -> None:
    writes(emulator, "x = 1", "x = 2")
    pressed = iter([{"title": "No"}, None])
    async with desk.server([], {"window/showMessageRequest": lambda _: next(pressed)}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Write it."})
        await spoken.ask("gemini/chat", {"prompt": "Write it now."})
        assert not (desk.workspace / "new.py").exists()
        assert [found["message"].splitlines()[:2] for _, found in desk.asked] == [
            ["Edit new.py?", "+x = 1"],
            ["Edit new.py?", "+x = 2"],
        ]
        assert [one["outcome"] for one in spoken.of("toolCallCompleted")] == ["declined", "declined"]


async def test_always_stands_in_the_users_file_asks_no_more_and_is_taken_back(desk: Desk, emulator: Emulator) -> None:
    writes(emulator, "x = 1", "x = 2", "x = 3")
    outcomes = iter(["always", "reject"])
    async with desk.server(ALL, {"gemini/confirmTool": lambda _: {"outcome": next(outcomes)}}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Write it."})
        await spoken.ask("gemini/chat", {"prompt": "Write it again."})
        assert (desk.workspace / "new.py").read_text("utf-8") == "x = 2"
        assert len(desk.asked) == 1
        settings = desk.tmp_path / "home" / ".gemini" / "settings.json"
        kept = [
            {"tool": "write_file", "decision": "allow", "path": "/new.py", "workspace": str(desk.workspace.resolve())}
        ]
        assert json.loads(settings.read_text("utf-8")) == {"companion": {"tools": {"rules": kept}}}
        (listed,) = (await spoken.ask("gemini/rules"))["rules"]
        assert (listed["rule"], listed["source"], listed["text"]) == (
            kept[0],
            "user",
            f"Allow write_file on /new.py in {desk.workspace.resolve()}",
        )
        assert await spoken.ask("gemini/rules/revoke", {"ruleId": listed["ruleId"]}) == {"rules": []}
        await spoken.ask("gemini/chat", {"prompt": "Once more."})
        assert (desk.workspace / "new.py").read_text("utf-8") == "x = 2"
        assert len(desk.asked) == 2


async def test_a_mode_that_is_switched_while_the_person_is_asked_settles_it(desk: Desk, emulator: Emulator) -> None:
    writes(emulator, "x = 1")

    async def never(_: Any) -> Any:
        await asyncio.Event().wait()

    async with asyncio.timeout(PATIENCE), desk.server(ALL, {"gemini/confirmTool": never}) as spoken:
        turn = spoken.start("gemini/chat", {"prompt": "Write it."})
        await spoken.wait_for("toolQuestionAsked")
        waiting = await spoken.ask("gemini/tools")
        assert [one["toolCallId"] for one in waiting["questions"]] == [
            spoken.of("toolQuestionAsked")[0]["question"]["toolCallId"]
        ]
        changed = await spoken.ask("gemini/session/mode", {"mode": "acceptEdits"})
        assert changed["mode"] == "acceptEdits"
        await turn
        assert (desk.workspace / "new.py").read_text("utf-8") == "x = 1"
        assert (await spoken.ask("gemini/tools"))["mode"] == "acceptEdits"


async def test_a_text_that_the_person_corrects_is_what_the_file_holds(desk: Desk, emulator: Emulator) -> None:
    args = {"file_path": "parser.py", "instruction": "rename", "old_string": "parse(", "new_string": "split("}
    script = answer(call("replace", args, call_id="r")), "Done."
    emulator.script(*script, method="streamGenerateContent")
    better = "def divide(text):\n    return text.split()\n"
    answers = {"gemini/confirmTool": lambda _: {"outcome": "once", "editedContent": better}}
    async with desk.server(ALL, answers, command=SERVER) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Rename parse."})
        assert (desk.workspace / "parser.py").read_text("utf-8") == better
        assert len(desk.asked) == 1
        sent = json.dumps(emulator.asked("streamGenerateContent")[-1].responses)
        assert "divide" in sent


async def test_a_command_is_judged_by_its_parts_and_asked_about_with_a_rule_to_keep(
    desk: Desk, emulator: Emulator
) -> None:
    for line in ("ls", "ls > made.txt", "touch ~/.gemini/settings.json", "ls > made.txt", "ls -l"):
        args = {"command": line}
        emulator.script(answer(call("run_shell_command", args, call_id="c")), "Done.", method="streamGenerateContent")
    answers = {"gemini/confirmTool": lambda _: {"outcome": "once"}}
    async with desk.server(ALL, answers, command=SERVER) as spoken:
        for _ in range(3):
            await spoken.ask("gemini/chat", {"prompt": "Run it."})
        assert [question["command"] for _, question in desk.asked] == ["ls > made.txt"]
        assert "parser.py" in (desk.workspace / "made.txt").read_text("utf-8")
        assert [one["outcome"] for one in spoken.of("toolCallCompleted")] == ["ok", "ok", "declined"]
        await spoken.ask("gemini/session/mode", {"mode": "plan"})
        for _ in range(2):
            await spoken.ask("gemini/chat", {"prompt": "Run it."})
        assert len(desk.asked) == 1
        assert [one["outcome"] for one in spoken.of("toolCallCompleted")][3:] == ["declined", "ok"], "ls -l only reads"
        refused = spoken.of("toolCallCompleted")[3]["consent"]
        assert refused == "plan mode, and the command may do more than read: it writes made.txt"


async def test_a_search_shows_nothing_of_files_that_a_rule_keeps_back(desk: Desk, emulator: Emulator) -> None:
    for name in ("seen.py", "dump.sql"):
        (desk.workspace / name).write_text(f"needle in {name}\n", "utf-8")
    (desk.workspace / ".gemini").mkdir(exist_ok=True)
    rules = [{"tool": "*", "path": "*.sql", "decision": "deny"}]
    (desk.workspace / ".gemini" / "settings.json").write_text(json.dumps({"companion": {"tools": {"rules": rules}}}))
    emulator.script(answer(call("grep_search", {"pattern": "needle"})), "Done.", method="streamGenerateContent")
    async with desk.server(ALL, {}, command=SERVER) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Search."})
        bodies = (json.dumps(request.body) for request in emulator.requests)
        sent = next(body for body in bodies if "functionResponse" in body)
        assert "needle in seen.py" in sent
        assert "needle in dump.sql" not in sent


async def test_in_an_untrusted_workspace_nobody_is_even_asked(desk: Desk, emulator: Emulator) -> None:
    writes(emulator, "x = 1")
    async with desk.server(ALL, {"gemini/confirmTool": lambda _: {"outcome": "once"}}, trusted=False) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Write it."})
        assert not (desk.workspace / "new.py").exists()
        assert desk.asked == []
        listed = {one["name"]: one["decision"] for one in (await spoken.ask("gemini/tools"))["tools"]}
        assert listed == {"write_file": "deny", "ask_user": "allow", "write_todos": "allow", "exit_plan_mode": "allow"}


async def test_the_model_asks_the_person_and_keeps_its_tasks(desk: Desk, emulator: Emulator) -> None:
    question = {"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}
    todos = [{"description": "read", "status": "in_progress"}]
    asks = call("ask_user", {"questions": [question]}, call_id="q")
    emulator.script(answer(asks, call("write_todos", {"todos": todos}, call_id="t", signature=None)), "Done.")
    async with desk.server(ALL, {"gemini/askUser": lambda _: {"answer": "b"}}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Do it."})
        assert [found["options"] for _, found in desk.asked] == [["a", "b"]]
        assert (await spoken.ask("gemini/tools"))["todos"] == todos
        assert spoken.of("todosChanged") == [{"type": "todosChanged", "todos": todos}]


async def test_without_a_session_the_users_rules_are_listed_and_taken_back_and_none_is_made(desk: Desk) -> None:
    settings = desk.tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    rule = {"tool": "write_file", "decision": "allow", "path": "/new.py"}
    settings.write_text(json.dumps({"companion": {"tools": {"rules": [rule]}}}), "utf-8")
    async with desk.server(ALL, {}) as spoken:
        (listed,) = (await spoken.ask("gemini/rules"))["rules"]
        assert (listed["source"], listed["text"]) == ("user", "Allow write_file on /new.py")
        assert await spoken.ask("gemini/rules/revoke", {"ruleId": listed["ruleId"]}) == {"rules": []}
        assert (await spoken.ask("gemini/session/list"))["sessions"] == []


async def test_a_rule_that_nobody_has_is_not_taken_back(desk: Desk) -> None:
    async with desk.server(ALL, {}) as spoken:
        error = await spoken.fails("gemini/rules/revoke", {"ruleId": "rule-x"})
        assert "rule-x" in str(error)


async def test_a_question_that_waits_when_the_window_is_closed_comes_again(desk: Desk, emulator: Emulator) -> None:
    writes(emulator, "x = 1")
    waiting = asyncio.Event()

    async def never(_: Any) -> Any:
        waiting.set()
        await asyncio.Event().wait()

    async with desk.server(ALL, {"gemini/confirmTool": never}) as spoken:
        chat = asyncio.create_task(spoken.ask("gemini/chat", {"prompt": "Write it."}))
        await asyncio.wait_for(waiting.wait(), PATIENCE)
    chat.cancel()
    await asyncio.gather(chat, return_exceptions=True)
    assert not (desk.workspace / "new.py").exists()
    written = asyncio.Event()

    def yes(_: Any) -> Any:
        written.set()
        return {"outcome": "once"}

    async with desk.server(ALL, {"gemini/confirmTool": yes}) as spoken:
        (session,) = (await spoken.ask("gemini/session/list", {}))["sessions"]
        await spoken.ask("gemini/session/open", {"sessionId": session["sessionId"]})
        await asyncio.wait_for(written.wait(), PATIENCE)
        async with asyncio.timeout(PATIENCE):
            while not (desk.workspace / "new.py").exists():
                await spoken.ask("gemini/compressionStatus", {"sessionId": session["sessionId"]})
    assert [method for method, _ in desk.asked] == ["gemini/confirmTool"] * 2


async def test_rules_of_the_session_and_of_always_hold_after_a_restart(desk: Desk, emulator: Emulator) -> None:
    for path in ("one.py", "two.py", "one.py", "two.py"):
        wanted = call("write_file", {"file_path": path, "content": "x"})
        emulator.script(answer(wanted), "Done.", method="streamGenerateContent")
    outcomes = iter(["session", "always"])
    answers = {"gemini/confirmTool": lambda _: {"outcome": next(outcomes)}}
    async with desk.server(ALL, answers) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Write it."})
        await spoken.ask("gemini/chat", {"prompt": "Write the other."})
        (session,) = (await spoken.ask("gemini/session/list", {}))["sessions"]
    async with desk.server(ALL, answers) as spoken:
        await spoken.ask("gemini/session/open", {"sessionId": session["sessionId"]})
        assert {one["source"] for one in (await spoken.ask("gemini/rules"))["rules"]} == {"session", "user"}
        for _ in range(2):
            await spoken.ask("gemini/chat", {"prompt": "Again.", "sessionId": session["sessionId"]})
        assert {one["outcome"] for one in spoken.of("toolCallCompleted")} == {"ok"}
    assert len(desk.asked) == 2


async def test_a_search_through_a_folder_runs_unasked_unless_a_secret_is_below_it(
    desk: Desk, emulator: Emulator
) -> None:
    (desk.workspace / "src").mkdir(exist_ok=True)
    (desk.workspace / "src" / "found.py").write_text("needle = 1\n")
    (desk.workspace / "keys").mkdir()
    (desk.workspace / "keys" / "id_rsa").write_text("needle\n")
    for line in ("grep -rn needle src", "cat src/*.py | wc -l", "grep -rn needle keys"):
        args = {"command": line}
        emulator.script(answer(call("run_shell_command", args, call_id="c")), "Done.", method="streamGenerateContent")
    answers = {"gemini/confirmTool": lambda _: {"outcome": "reject"}}
    async with desk.server(ALL, answers, command=SERVER) as spoken:
        for _ in range(3):
            await spoken.ask("gemini/chat", {"prompt": "Look."})
        assert [one["outcome"] for one in spoken.of("toolCallCompleted")] == ["ok", "ok", "declined"]
    ((_, question),) = desk.asked
    assert "keys/id_rsa" in question["reason"]
