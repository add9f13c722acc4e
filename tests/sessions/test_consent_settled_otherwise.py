"""Questions that are settled without an answer, answers that come too late, and what the person changed looked at anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.tool_events import ToolQuestionAnswered
from gemini_companion.sessions.tools.modes import set_mode
from tests.support.consenting import ConsentStudio, settings_with
from tests.support.scripted_model import calls

YES = ConsentAnswer(outcome="once")
NO = ConsentAnswer(outcome="reject", reason="Use the parser.")


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[ConsentStudio]:
    studio = ConsentStudio(tmp_path)
    yield studio
    await studio.app.close()


def response(studio: ConsentStudio) -> dict[str, Any]:
    """What the model got for its call."""
    part: Any = studio.model.main()[-1].contents[-1].parts[0]
    return part["functionResponse"]["response"]


def settled(studio: ConsentStudio) -> list[str]:
    return [event.outcome for event in studio.heard.of(ToolQuestionAnswered)]


# --- settled without an answer, and answers that come too late


async def settle_while_it_waits(studio: ConsentStudio, change: Callable[[], Awaitable[None]]) -> None:
    """The model wants to write; nobody answers; what the question rests on changes."""
    studio.person.answers = [studio.person.never]
    turn = asyncio.create_task(studio.write("a.py", "x"))
    await studio.until_asked()
    await change()
    studio.consent.reconsider()
    await turn
    assert studio.person.taken_back == 1
    assert settled(studio) == ["reject"]
    assert studio.tool.written == {}


async def test_plan_mode_that_is_switched_on_while_an_edit_waits_refuses_it(studio: ConsentStudio) -> None:
    async def plan() -> None:
        await set_mode(await studio.session(), "plan")

    await settle_while_it_waits(studio, plan)
    assert "exit_plan_mode" in response(studio)["error"]


async def test_a_rule_that_forbids_and_comes_while_an_edit_waits_refuses_it(studio: ConsentStudio) -> None:
    async def forbid() -> None:
        studio.set(tools=settings_with(studio, ToolRule(tool="write_file", decision="deny", path="*.py")))

    await settle_while_it_waits(studio, forbid)
    assert "forbids" in response(studio)["error"]


async def test_trust_that_goes_while_an_edit_waits_refuses_it(studio: ConsentStudio) -> None:
    async def lose() -> None:
        studio.trusted = False

    await settle_while_it_waits(studio, lose)


async def test_an_answer_to_a_question_that_is_gone_counts_for_nothing(studio: ConsentStudio) -> None:
    answered = asyncio.Event()

    async def too_late() -> ConsentAnswer:
        try:
            await studio.person.never()
        except asyncio.CancelledError:
            answered.set()
        return ConsentAnswer(outcome="always")

    studio.person.answers = [too_late]
    turn = asyncio.create_task(studio.write("a.py", "x"))
    await studio.until_asked()
    await set_mode(await studio.session(), "plan")
    studio.consent.reconsider()
    await turn
    assert answered.is_set()
    assert (studio.tool.written, studio.own.rules) == ({}, [])
    assert settled(studio) == ["reject"]


async def test_two_clients_at_once_are_each_asked_about_their_own_prompt_and_one_answer_counts_for_one(
    studio: ConsentStudio,
) -> None:
    other, _ = studio.connect("other")
    person = studio.person_of(other)
    asked = asyncio.Event()

    async def no_at_last() -> ConsentAnswer:
        asked.set()
        await asyncio.sleep(0)
        return NO

    studio.person.answers = [no_at_last]
    person.answers = [YES]
    studio.model.streams = [calls(("write_file", {"file_path": "a.py", "content": "x"})), "Done."]
    first = asyncio.create_task(studio.chat("Do it."))
    await asked.wait()
    await first
    studio.model.streams = [calls(("write_file", {"file_path": "b.py", "content": "y"})), "Done."]
    await studio.chat("Do it.", other)
    assert studio.tool.written == {"/project/b.py": "y"}
    assert (len(studio.person.asked), len(person.asked)) == (1, 1)


# --- what the person changed is looked at like what the model wrote


@pytest.mark.parametrize("mode", ["ask", "acceptEdits"])
async def test_a_corrected_text_for_a_file_that_became_forbidden_is_not_written(
    studio: ConsentStudio, mode: Any
) -> None:
    async def correct() -> ConsentAnswer:
        studio.set(tools=settings_with(studio, ToolRule(tool="write_file", decision="deny", path="a.py"), mode=mode))
        return ConsentAnswer(outcome="once", edited_content="better")

    studio.person.answers = [correct]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert "forbids" in response(studio)["error"]


async def test_arguments_changed_to_a_guarded_file_are_the_person_s_own_wish_and_keep_no_rule(
    studio: ConsentStudio,
) -> None:
    studio.tool.guarded = {"/project/Makefile"}
    changed = {"file_path": "Makefile", "content": "y"}
    studio.person.answers = [ConsentAnswer(outcome="always", edited_args=changed), NO]
    await studio.write("a.py", "x")
    assert studio.tool.written == {"/project/Makefile": "y"}
    assert studio.own.rules == []
    await studio.write("Makefile", "z")
    assert studio.tool.written == {"/project/Makefile": "y"}


async def test_arguments_changed_under_plan_mode_are_refused(studio: ConsentStudio) -> None:
    async def change() -> ConsentAnswer:
        await set_mode(await studio.session(), "plan")
        return ConsentAnswer(outcome="once", edited_args={"file_path": "b.py", "content": "y"})

    studio.person.answers = [change]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
