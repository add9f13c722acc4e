"""Slash commands and skills over stdio: the real SDK, the emulated service, real files, real bash."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.patience import PATIENCE

COMPRESSIBLE = " ".join(f"Sentence {number} says nothing that has to be kept." for number in range(900))


class Desk:
    """Starts servers over one home and one project, both with commands and skills."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.tmp_path, self.workspace, self.gemini = tmp_path, workspace, gemini
        self.home = tmp_path / "home"
        self.asked: list[Any] = []
        self.outcome = "once"
        """What the person answers; empty for nothing, ever."""
        self.write(workspace / "notes.md", "Keep it short.\n!{touch injected}\n")
        self.write(workspace / ".gemini" / "commands" / "git" / "review.toml", REVIEW)
        self.write(self.home / ".gemini" / "commands" / "hello.toml", 'prompt = "Say hello to {{args}}."')
        self.skill = workspace / ".agents" / "skills" / "letters"
        self.write(self.skill / "SKILL.md", "---\nname: letters\ndescription: How to write letters\n---\nBe kind.\n")
        self.write(self.skill / "references" / "forms.md", "Dear Sir or Madam,\n")

    @staticmethod
    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    @asynccontextmanager
    async def server(self, *, trusted: bool = True) -> AsyncGenerator[Editor]:
        options = {"trusted": trusted, "supports": ["confirmTool"]}
        environment = server_environment(self.tmp_path, **self.gemini)
        answers = {"gemini/confirmTool": self._confirm}
        async with editor(environment, self.workspace, options=options, answers=answers) as spoken:
            yield spoken

    async def _confirm(self, question: Any) -> Any:
        self.asked.append(question)
        if not self.outcome:
            await asyncio.Event().wait()
        return {"outcome": self.outcome}


REVIEW = '''
description = "Review what I name"
prompt = """
Review {{args}} by these notes:
@{notes.md}
The branch says: !{echo on {{args}}; exit 3}
"""
'''


@pytest.fixture
def desk(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Desk:
    return Desk(tmp_path, workspace, gemini_environment)


def sent(emulator: Emulator) -> list[Any]:
    return emulator.asked("streamGenerateContent")


def texts(content: dict[str, Any]) -> list[str]:
    return [str(part.get("text", "")) for part in content["parts"]]


async def test_a_projects_command_is_asked_about_runs_and_stands_behind_what_was_typed(
    desk: Desk, emulator: Emulator
) -> None:
    emulator.script("Reviewed.")
    async with desk.server() as spoken:
        listed = await spoken.ask("gemini/commands/list", {})
        result = await spoken.ask("gemini/chat", {"prompt": "/git:review a b; touch escaped"})
        turn = {"turnId": result["turnId"]}
        told = await spoken.ask("gemini/commands/sent", turn)
        page = await spoken.ask("gemini/session/history", {"view": "transcript"})
    named = {one["name"]: one for one in listed["commands"]}
    assert named["git:review"]["description"] == "Review what I name"
    assert (named["git:review"]["scope"], named["git:review"]["runsCommands"]) == ("workspace", True)
    assert named["hello"]["scope"] == "user"
    assert listed["problems"] == []
    (question,) = desk.asked
    assert question["command"] == "echo on 'a b; touch escaped'; exit 3"
    assert "A command file of the project runs it" in " ".join(question["warnings"])
    said = texts(sent(emulator)[0].contents[-1])
    at = said.index(typed := "/git:review a b; touch escaped")
    expanded = said[at + 1]
    assert "Review a b; touch escaped by these notes:" in expanded
    assert "Keep it short.\n!{touch injected}" in expanded
    assert "on a b; touch escaped\n[Exit code: 3]" in expanded
    assert not (desk.workspace / "escaped").exists()
    assert not (desk.workspace / "injected").exists()
    assert told == {"line": typed, "text": expanded}
    (item,) = [one for one in page["contents"] if one["kind"] == "prompt"]
    assert item["command"]["name"] == "git:review"
    assert [one["path"] for one in item["command"]["files"]] == [str(desk.workspace / "notes.md")]
    assert [one["outcome"] for one in item["command"]["calls"]] == ["failed"]
    assert emulator.malformed == []


async def test_a_no_sends_nothing_and_leaves_what_was_typed(desk: Desk, emulator: Emulator) -> None:
    desk.outcome = "reject"
    async with desk.server() as spoken:
        with pytest.raises(Exception, match="was not carried out"):
            await spoken.ask("gemini/chat", {"prompt": "/git:review x"})
        page = await spoken.ask("gemini/session/history", {"view": "transcript"})
        emulator.script("Hello.")
        again = await spoken.ask("gemini/chat", {"prompt": "Hi."})
    (item, *_) = [one for one in page["contents"] if one["kind"] == "prompt"]
    assert texts(item) == ["/git:review x"]
    assert item["outcome"] == "failed"
    assert again["text"] == "Hello."
    assert len(sent(emulator)) == 1


async def test_in_plan_mode_and_without_trust_nothing_runs_and_nobody_is_asked(desk: Desk, emulator: Emulator) -> None:
    async with desk.server() as spoken:
        await spoken.ask("gemini/session/mode", {"mode": "plan"})
        with pytest.raises(Exception, match="plan mode"):
            await spoken.ask("gemini/chat", {"prompt": "/git:review x"})
    desk.write(desk.home / ".gemini" / "commands" / "own.toml", "prompt = 'Look: !{ls}'")
    async with desk.server(trusted=False) as spoken:
        listed = await spoken.ask("gemini/commands/list", {})
        with pytest.raises(Exception, match="not trusted"):
            await spoken.ask("gemini/chat", {"prompt": "/own"})
    assert {one["scope"] for one in listed["commands"]} == {"builtIn", "user"}
    assert desk.asked == []
    assert sent(emulator) == []


async def test_the_persons_own_command_runs_as_the_models_would(desk: Desk, emulator: Emulator) -> None:
    """A line that only reads is not asked about where the file is the person's own; in a project's it is."""
    desk.write(desk.home / ".gemini" / "commands" / "own.toml", "prompt = 'There are !{ls notes.md}'")
    desk.write(desk.workspace / ".gemini" / "commands" / "theirs.toml", "prompt = 'There are !{ls notes.md}'")
    emulator.script("One.", "One.")
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "/own"})
        assert desk.asked == []
        await spoken.ask("gemini/chat", {"prompt": "/theirs"})
    assert [one["command"] for one in desk.asked] == ["ls notes.md"]
    assert all("There are notes.md" in str(request.contents) for request in sent(emulator))


async def test_a_stored_rule_lets_a_projects_command_run_unasked(desk: Desk, emulator: Emulator) -> None:
    desk.write(desk.workspace / ".gemini" / "commands" / "theirs.toml", "prompt = 'There are !{git status}'")
    settings = desk.home / ".gemini" / "settings.json"
    desk.write(settings, '{"tools": {"allowed": ["run_shell_command(git status)"]}}')
    emulator.script("None.")
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "/theirs"})
    assert desk.asked == []


async def test_a_stopped_command_ends_with_its_turn(desk: Desk, emulator: Emulator) -> None:
    desk.write(desk.workspace / ".gemini" / "commands" / "slow.toml", "prompt = '!{echo begun; sleep 600}'")
    emulator.script("Hello.")
    async with desk.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "/slow"})
        await spoken.wait_for("toolCallProgress")
        (running,) = (await spoken.ask("gemini/commands", {}))["commands"]
        await spoken.ask("gemini/cancel", {})
        with pytest.raises(Exception, match=r"[Ss]topped|[Cc]ancel"):
            await chat
        async with asyncio.timeout(PATIENCE):
            while (await spoken.ask("gemini/commands", {}))["commands"]:  # it is ended within a second
                pass
        assert (await spoken.ask("gemini/chat", {"prompt": "Hi."}))["text"] == "Hello."
    assert "sleep 600" in running["command"]
    assert len(sent(emulator)) == 1


async def test_a_daemon_that_is_killed_while_it_asks_runs_nothing_afterwards_and_the_chat_is_usable(
    desk: Desk, emulator: Emulator
) -> None:
    emulator.script("Hello.", "Hello again.")
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hi."})
        (session,) = (await spoken.ask("gemini/session/list", {}))["sessions"]
        desk.outcome = ""
        chat = spoken.start("gemini/chat", {"prompt": "/git:review x; touch ran"})
        await spoken.wait_for("toolQuestionAsked")
        await spoken.kill()
        await asyncio.wait({chat})
        chat.exception()
    desk.outcome, asked = "once", len(desk.asked)
    async with desk.server() as spoken:
        await spoken.ask("gemini/session/open", {"sessionId": session["sessionId"]})
        assert (await spoken.ask("gemini/chat", {"prompt": "Hi again."}))["text"] == "Hello again."
    assert len(desk.asked) == asked
    assert "git:review" not in sent(emulator)[-1].text


async def test_what_no_command_is_stays_a_prompt_and_two_slashes_are_text(desk: Desk, emulator: Emulator) -> None:
    emulator.script("A.", "B.", "C.")
    async with desk.server() as spoken:
        for prompt in ("/etc/hosts is what?", "/nothing of ours", "//git:review is what?"):
            await spoken.ask("gemini/chat", {"prompt": prompt})
    said = [text for content in sent(emulator)[-1].contents for text in texts(content) if text.startswith("/")]
    assert said == ["/etc/hosts is what?", "/nothing of ours", "/git:review is what?"]


async def test_files_that_come_change_and_go_are_told_of(desk: Desk, emulator: Emulator) -> None:
    emulator.script("Hello.")
    commands = desk.workspace / ".gemini" / "commands"
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hi."})
        await spoken.ask("gemini/commands/list", {})
        desk.write(commands / "fresh.toml", "prompt = 'x'\ndescription = 3")
        await spoken.wait_for("slashCommandsChanged")
        listed = await spoken.ask("gemini/commands/list", {})
    (problem,) = listed["problems"]
    assert (problem["path"], problem["line"]) == (str(commands / "fresh.toml"), 2)
    assert "description" in problem["message"]


async def test_a_skill_is_named_in_every_request_and_read_when_it_is_activated(desk: Desk, emulator: Emulator) -> None:
    emulator.script(
        answer(call("activate_skill", {"name": "letters"})),
        answer(call("activate_skill", {"name": "letters", "file": "references/forms.md"})),
        answer(call("activate_skill", {"name": "letters", "file": "../../../notes.md"})),
        "Dear Sir.",
    )
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Write a letter."})
    first, second, third, fourth = sent(emulator)
    assert "- letters: How to write letters" in first.system
    assert "Be kind." not in first.system + str(first.contents)
    (activated,) = second.responses
    assert "<instructions>\nBe kind.\n</instructions>" in activated["response"]["output"]
    assert "- references/forms.md" in activated["response"]["output"]
    assert third.responses[-1]["response"]["output"].startswith("Dear Sir or Madam,")
    assert "no file of the skill" in fourth.responses[-1]["response"]["error"]
    assert len(desk.asked) == 1  # once for the skill, not for what it refers to
    assert [str(desk.skill / "SKILL.md") in str(one) for one in desk.asked] == [True]
    assert first.system == fourth.system


async def test_an_active_skill_survives_a_compression_as_its_file_says_then(desk: Desk, emulator: Emulator) -> None:
    emulator.script(answer(call("activate_skill", {"name": "letters"})), COMPRESSIBLE, COMPRESSIBLE)
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Write a letter."})
        await spoken.ask("gemini/chat", {"prompt": "And another one."})
        desk.write(desk.skill / "SKILL.md", "---\nname: letters\ndescription: How to write letters\n---\nBe brief.\n")
        done = await spoken.ask("gemini/compress", {"strategy": "assemble", "force": True})
        emulator.script("Dear Madam.")
        await spoken.ask("gemini/chat", {"prompt": "Now the last one."})
    assert done["status"] == "COMPRESSED"
    last = sent(emulator)[-1]
    assert "<activated_skill" not in "".join(str(content) for content in last.contents[1:])
    assert "<instructions>\nBe brief.\n</instructions>" in texts(last.contents[0])[0]


async def test_a_skill_is_turned_off_for_the_person_and_back_on(desk: Desk, emulator: Emulator) -> None:
    emulator.script("A.", "B.")
    async with desk.server() as spoken:
        off = await spoken.ask("gemini/skills/enable", {"name": "letters", "enabled": False})
        await spoken.ask("gemini/chat", {"prompt": "Hi."})
        on = await spoken.ask("gemini/skills/enable", {"name": "letters", "enabled": True})
        await spoken.ask("gemini/chat", {"prompt": "Hi again."})
    assert [one.get("isEnabled", False) for one in (*off["skills"], *on["skills"])] == [False, True]
    before, after = sent(emulator)
    assert "How to write letters" not in before.system
    assert "activate_skill" not in str(before.declarations)
    assert "How to write letters" in after.system
    assert "activate_skill" in str(after.declarations)
