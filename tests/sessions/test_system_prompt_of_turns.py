"""The system instruction of requests: stable while the view only grows, and true of what can be called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gemini_companion.engine.prompts.git_state import GitState
from gemini_companion.sessions.context.system_prompt import report_for, report_of
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.tools.modes import set_mode
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.conversations import dialogue
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.sessions import Studio


class ChangingGit:
    """Another commit whenever it is asked."""

    def __init__(self, *paths: str) -> None:
        self.reads = 0
        self.paths = paths

    async def read(self, folders: Sequence[str]) -> list[GitState]:
        self.reads += 1
        return [
            GitState(
                folder=folders[0],
                branch="main",
                changed=tuple(("??", path) for path in self.paths),
                commits=(("1234abc", f"Commit {self.reads}"),),
            )
        ]


@pytest.fixture
def desk(tmp_path: Path) -> Studio:
    tools = (SampleTool("read_file", "read"), SampleTool("replace", "edit"), SampleTool("exit_plan_mode", "question"))
    return Studio(tmp_path, tools=tools, tooling=allowing())


def told(studio: Studio) -> list[str]:
    return [request.system_instruction or "" for request in studio.model.requests if request.role == "main"]


async def test_it_stays_byte_for_byte_while_the_view_only_grows(desk: Studio):
    desk.services.git = git = ChangingGit()
    for number in range(4):
        await desk.chat(f"Prompt {number}")
    assert len(set(told(desk))) == 1
    assert git.reads == 1


async def test_the_repository_is_read_again_after_a_compression(desk: Studio):
    desk.services.git = ChangingGit()
    await desk.load(dialogue(30))
    await desk.chat("One")
    assert "Commit 1" in told(desk)[-1]
    result = await desk.compress()
    assert result.status == "COMPRESSED"
    await desk.chat("Two")
    assert "Commit 1" not in told(desk)[-1]
    assert "Commit" in told(desk)[-1]


async def test_of_a_workspace_that_is_not_trusted_git_is_not_asked(desk: Studio):
    desk.services.git = git = ChangingGit()
    desk.trusted = False
    await desk.chat("One")
    assert git.reads == 0
    assert "can be trusted" in told(desk)[-1]


async def test_names_of_files_that_may_not_be_shown_are_left_out_of_the_repositorys_state(desk: Studio):
    desk.services.git = ChangingGit("/project/open.txt", "/project/secret.txt")
    await desk.chat("One")
    assert "open.txt" in told(desk)[-1]
    assert "secret.txt" not in told(desk)[-1]


async def test_a_section_that_is_switched_off_is_gone_with_the_next_turn(desk: Studio):
    await desk.chat("One")
    desk.set(prompt_sections={"operational_guidelines": False, "safety": False})
    await desk.chat("Two")
    before, after = told(desk)
    assert "# How answers are written" in before
    assert "# How answers are written" not in after
    assert "# What is not done" not in after


async def test_it_changes_with_the_mode_as_the_declarations_do(desk: Studio):
    await desk.chat("One")
    await set_mode(await desk.session(), "plan")
    await desk.chat("Two")
    await set_mode(await desk.session(), "acceptEdits")
    await desk.chat("Three")
    asking, planning, accepting = told(desk)
    assert "plan mode" in planning
    assert asking == accepting
    declared = [[one["name"] for one in request.tools] for request in desk.model.requests if request.role == "main"]
    assert declared[0] == declared[2] != declared[1]


async def test_a_mode_that_changes_within_a_turn_holds_from_its_next_request(desk: Studio):
    session = await desk.session()
    await set_mode(session, "plan")

    async def agree(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await set_mode(session, "ask")
        return ToolOutput(output="agreed", summary="agreed")

    reading = desk.services.tools.find("read_file")
    assert isinstance(reading, SampleTool)
    reading.work = agree
    call = {"functionCall": {"name": "read_file", "args": {"file_path": "a"}, "id": "c1"}}
    desk.model.streams = [ModelChunk(parts=(call,), finish_reason="STOP"), "Done."]
    await desk.chat("Plan it.")
    assert ["plan mode" in text for text in told(desk)] == [True, False]


async def test_models_of_another_family_get_other_words_and_models_that_run_here_the_short_ones(desk: Studio):
    await desk.chat("One", model="gemini-2.5-pro")
    await desk.chat("Two", model="gemini-3-pro-preview")
    legacy, modern = told(desk)
    assert legacy != modern
    desk.take_key_away()
    await desk.chat("Three")
    short = desk.offline.requests[-1].system_instruction or ""
    assert 0 < len(short) < len(modern) / 3


async def test_a_file_that_replaces_it_has_its_placeholders_filled_in(desk: Studio):
    desk.services.system_prompt_override = lambda: "Mine, with ${read_file_ToolName} of:\n${AvailableTools}"
    await desk.chat("One")
    assert told(desk)[-1] == "Mine, with read_file of:\n- read_file\n- replace"


async def test_a_sessions_own_instruction_stays_letter_for_letter(desk: Studio):
    await desk.app.create(desk.client, system_instruction="Own ${AvailableTools}")
    await desk.chat("One")
    assert told(desk)[-1] == "Own ${AvailableTools}"
    assert (await report_of(await desk.session())).source == "session"


async def test_the_copy_for_the_person_is_written_once_a_session_without_what_is_of_the_moment(desk: Studio):
    written: list[str] = []
    desk.services.git = ChangingGit()
    desk.services.write_system_prompt = lambda text: written.append(text())
    await desk.load(dialogue(30))
    await desk.chat("One")
    await desk.compress()
    await desk.chat("Two")
    assert len(written) == 1
    assert "Commit" not in written[0]
    without_the_last_word = written[0].rpartition("\n\n")[0]
    assert told(desk)[0].startswith(without_the_last_word)


async def test_the_report_is_what_the_next_request_has(desk: Studio):
    foreseen = await report_for(desk.services, desk.client)
    await desk.chat("One")
    reported = await report_of(await desk.session())
    assert foreseen.text == reported.text == told(desk)[-1]
    assert reported.source == "builtIn"
    assert [section.name for section in reported.sections][:2] == ["preamble", "core_mandates"]
    assert abs(sum(section.tokens for section in reported.sections) - reported.tokens) < 30
