"""Whether a call goes ahead: what is decided unasked, who is asked, what an answer is worth, and what it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled
from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.engine.history.tool_entries import ToolCallEntry, ToolRule
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.tool_events import ToolQuestionAnswered, ToolQuestionAsked
from gemini_companion.sessions.tools.modes import set_mode
from tests.support.consenting import ConsentStudio, settings_with

YES = ConsentAnswer(outcome="once")
HERE = ToolRule(tool="write_file", decision="allow", path="/a.py", workspace="/project")
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


async def record(studio: ConsentStudio) -> Any:
    """Of the newest call."""
    session = await studio.session()
    return next(entry.calls[0] for entry in session.history.entries if isinstance(entry, ToolResultEntry))


def settled(studio: ConsentStudio) -> list[str]:
    return [event.outcome for event in studio.heard.of(ToolQuestionAnswered)]


# --- the answer


async def test_a_yes_lets_the_call_through_and_the_question_says_all_that_is_known(studio: ConsentStudio) -> None:
    studio.person.answers = [YES]
    await studio.write("a.py", "x = 1\n")
    assert studio.tool.written == {"/project/a.py": "x = 1\n"}
    (question,) = studio.person.asked
    assert (question.title, question.path, question.new_content) == ("Edit a.py", "/project/a.py", "x = 1\n")
    assert (question.mode, question.reason) == ("ask", "it changes files")
    assert question.rule == HERE
    assert [event.question for event in studio.heard.of(ToolQuestionAsked)] == [question]
    assert settled(studio) == ["once"]
    assert (await record(studio)).consent == "yes, once"


async def test_a_no_is_told_to_the_model_as_no_fault_with_the_person_s_words(studio: ConsentStudio) -> None:
    studio.person.answers = [NO]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert response(studio)["error"] == (
        "Not done, and this is no fault: nothing was changed. The person said no. Their words: Use the parser."
    )
    found = await record(studio)
    assert (found.outcome, found.consent) == ("declined", "you said no: Use the parser.")


async def test_the_question_is_durable_before_it_is_asked(studio: ConsentStudio) -> None:
    held: list[list[str]] = []

    async def answer() -> ConsentAnswer:
        session = await studio.session()
        held.append([entry.state for entry in session.history.entries if isinstance(entry, ToolCallEntry)])
        return YES

    studio.person.answers = [answer]
    await studio.write("a.py", "x")
    assert held == [["asked"]]


async def test_no_answer_in_time_means_no(studio: ConsentStudio) -> None:
    async def too_late() -> None:
        studio.clock.time += 300_000

    studio.person.answers = [too_late]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert settled(studio) == ["timeout"]
    assert "in time" in response(studio)["error"]
    assert studio.person.seconds == [300]


async def test_a_client_that_has_gone_means_no(studio: ConsentStudio) -> None:
    studio.person.answers = [None]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert settled(studio) == ["gone"]


async def test_a_client_that_cannot_be_asked_means_no(studio: ConsentStudio) -> None:
    studio.client.asker = None
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert "Nobody can be asked" in response(studio)["error"]


async def test_only_the_client_whose_prompt_it_is_is_asked_and_the_others_see_it(studio: ConsentStudio) -> None:
    other, heard = studio.connect("other")
    other.subscribe((await studio.session()).session_id, on=True)
    person = studio.person_of(other)
    studio.person.answers = [YES]
    await studio.write("a.py", "x")
    assert person.asked == []
    assert [len(heard.of(kind)) for kind in (ToolQuestionAsked, ToolQuestionAnswered)] == [1, 1]


async def test_stopping_the_turn_takes_the_question_back(studio: ConsentStudio) -> None:
    studio.person.answers = [studio.person.never]
    turn = asyncio.create_task(studio.write("a.py", "x"))
    await studio.until_asked()
    session = await studio.session()
    assert len(studio.consent.questions(session.session_id)) == 1
    await studio.app.cancel(studio.client, session.session_id)
    with pytest.raises(Cancelled):
        await turn
    assert studio.person.taken_back == 1
    assert studio.consent.questions(session.session_id) == ()
    assert settled(studio) == ["gone"]


# --- what changed while it waited


async def test_a_mode_that_lets_edits_through_settles_the_question(studio: ConsentStudio) -> None:
    studio.person.answers = [studio.person.never]
    turn = asyncio.create_task(studio.write("a.py", "x"))
    await studio.until_asked()
    session = await studio.session()
    await set_mode(session, "acceptEdits")
    studio.consent.reconsider(session.session_id)
    await turn
    assert studio.tool.written == {"/project/a.py": "x"}
    assert studio.person.taken_back == 1
    assert (await record(studio)).consent == "mode acceptEdits"


async def test_plan_mode_chosen_between_question_and_answer_beats_the_yes(studio: ConsentStudio) -> None:
    async def switch() -> ConsentAnswer:
        await set_mode(await studio.session(), "plan")
        return YES

    studio.person.answers = [switch]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert "exit_plan_mode" in response(studio)["error"]
    assert (await record(studio)).summary == "plan mode", "the sentence for the model is not what people read"


async def test_news_that_change_nothing_leave_the_question_open(studio: ConsentStudio) -> None:
    async def answer() -> ConsentAnswer:
        studio.consent.reconsider()
        await asyncio.sleep(0)
        return YES

    studio.person.answers = [answer]
    await studio.write("a.py", "x")
    assert len(studio.person.asked) == 1
    assert studio.tool.written == {"/project/a.py": "x"}


async def test_trust_that_is_lost_while_it_waits_beats_the_yes(studio: ConsentStudio) -> None:
    async def lose() -> ConsentAnswer:
        studio.trusted = False
        return YES

    studio.person.answers = [lose]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert "not trusted" in response(studio)["error"]


async def test_a_file_that_changed_while_it_waited_is_asked_about_anew(studio: ConsentStudio) -> None:
    async def meanwhile() -> ConsentAnswer:
        studio.tool.on_disk["/project/a.py"] = "theirs\n"
        return YES

    studio.person.answers = [meanwhile, NO]
    await studio.write("a.py", "x")
    first, second = studio.person.asked
    assert (first.diff, second.diff) == ("-\n+x", "-theirs\n\n+x")
    assert studio.tool.written == {}


# --- what the person changed


async def test_changed_arguments_are_what_runs_and_the_model_is_told(studio: ConsentStudio) -> None:
    changed = {"file_path": "b.py", "content": "y"}
    studio.person.answers = [ConsentAnswer(outcome="once", edited_args=changed)]
    await studio.write("a.py", "x")
    assert studio.tool.written == {"/project/b.py": "y"}
    assert len(studio.person.asked) == 1
    assert "b.py" in response(studio)["note"]
    assert (await record(studio)).edited_args == changed


async def test_changed_arguments_that_a_rule_forbids_are_not_run(studio: ConsentStudio) -> None:
    studio.set(tools=settings_with(studio, ToolRule(tool="*", decision="deny", path="b.py")))
    studio.person.answers = [ConsentAnswer(outcome="once", edited_args={"file_path": "b.py", "content": "y"})]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert "forbids" in response(studio)["error"]


async def test_changed_arguments_that_are_wrong_are_refused(studio: ConsentStudio) -> None:
    studio.person.answers = [ConsentAnswer(outcome="once", edited_args={"file_path": [1]})]
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert "wrong" in response(studio)["error"]


async def test_a_corrected_text_is_what_is_written_and_the_model_is_told(studio: ConsentStudio) -> None:
    studio.person.answers = [ConsentAnswer(outcome="once", edited_content="better\n")]
    await studio.write("a.py", "x")
    assert studio.tool.written == {"/project/a.py": "better\n"}
    assert "corrected" in response(studio)["note"]


async def test_a_yes_to_a_corrected_text_is_not_one_to_the_same_text_of_another_file(
    studio: ConsentStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose = studio.tool.proposal_of
    monkeypatch.setattr(
        studio.tool, "proposal_of", lambda path, text: propose("b.py" if text == "better\n" else path, text)
    )
    studio.person.answers = [ConsentAnswer(outcome="once", edited_content="better\n"), NO]
    await studio.write("a.py", "x = 1\n")
    assert [question.path for question in studio.person.asked] == ["/project/a.py", "/project/b.py"]
    assert studio.tool.written == {}


async def test_a_corrected_text_without_its_last_line_feed_is_asked_about_once(studio: ConsentStudio) -> None:
    studio.tool.ends_lines = True
    studio.person.answers = [ConsentAnswer(outcome="once", edited_content="better")]
    await studio.write("a.py", "y\n")
    assert len(studio.person.asked) == 1
    assert studio.tool.written == {"/project/a.py": "better\n"}
