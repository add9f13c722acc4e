"""Tools that touch nothing outside of the chat: questions, tasks, the way out of plan mode."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.history.log import ResumeEntry
from gemini_companion.engine.history.tool_entries import Todo
from gemini_companion.sessions.context.environment import refresh_environment
from gemini_companion.sessions.tool_events import ModeChanged, TodosChanged
from gemini_companion.sessions.tools.modes import set_mode
from gemini_companion.tools.notes.ask_user import AskUser
from gemini_companion.tools.notes.exit_plan_mode import ACCEPTING, PLANNING, ExitPlanMode
from gemini_companion.tools.notes.write_todos import WriteTodos
from tests.support.consenting import ConsentStudio


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[ConsentStudio]:
    studio = ConsentStudio(tmp_path, AskUser(), WriteTodos(), ExitPlanMode())
    yield studio
    await studio.app.close()


def response(studio: ConsentStudio) -> dict[str, Any]:
    part: Any = studio.model.main()[-1].contents[-1].parts[0]
    return part["functionResponse"]["response"]


# --- asking


async def test_the_person_s_answers_go_back_with_their_questions(studio: ConsentStudio) -> None:
    studio.person.words = ["SQLite", "as I said"]
    options = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}]
    await studio.call(
        "ask_user",
        {"questions": [{"question": "Which database?", "header": "Store", "options": options}, {"question": "Why?"}]},
    )
    assert studio.person.questions == [
        ("Store: Which database?\n- SQLite: one file", ("SQLite", "Postgres")),
        ("Why?", ()),
    ]
    assert response(studio) == {"output": "Which database?\nAnswer: SQLite\n\nWhy?\nAnswer: as I said"}


async def test_a_person_who_does_not_answer_is_not_asked_the_rest(studio: ConsentStudio) -> None:
    studio.person.words = ["SQLite"]
    await studio.call("ask_user", {"questions": [{"question": "A?"}, {"question": "B?"}, {"question": "C?"}]})
    assert [question for question, _ in studio.person.questions] == ["A?", "B?"]
    assert response(studio)["output"].endswith("The other questions were not answered.")
    await studio.call("ask_user", {"questions": [{"question": "A?"}]})
    assert "no answer" in response(studio)["error"]


# --- tasks


async def test_tasks_are_kept_in_the_session_and_told(studio: ConsentStudio) -> None:
    todos = [{"description": "read", "status": "completed"}, {"description": "write", "status": "in_progress"}]
    await studio.call("write_todos", {"todos": todos})
    kept = (Todo(description="read", status="completed"), Todo(description="write", status="in_progress"))
    assert (await studio.session()).tools_state.todos == kept
    assert studio.heard.of(TodosChanged) == [TodosChanged(todos=kept)]
    assert response(studio) == {"output": "The list is kept."}


async def test_a_task_list_that_a_compression_hides_stands_in_the_next_request(studio: ConsentStudio) -> None:
    await studio.call("write_todos", {"todos": [{"description": "Mend the parser", "status": "in_progress"}]})
    session = await studio.app.hold(studio.client, None)
    stamp = session.stamp()
    await session.append(lambda seq: ResumeEntry(**stamp, seq=seq))  # as any change of the view but appending
    await refresh_environment(session)
    assert session.environment is not None
    assert "- [in_progress] Mend the parser" in session.environment.parts[0]["text"]
    await studio.call("write_todos", {"todos": [{"description": "Mend the parser", "status": "completed"}]})
    again = session.stamp()
    await session.append(lambda seq: ResumeEntry(**again, seq=seq))
    await refresh_environment(session)
    assert "Mend the parser" not in session.environment.parts[0]["text"]


async def test_of_several_tasks_in_progress_the_first_stays_so(studio: ConsentStudio) -> None:
    await studio.call(
        "write_todos", {"todos": [{"description": each, "status": "in_progress"} for each in ("a", "b", "c")]}
    )
    found = (await studio.session()).tools_state.todos
    assert [todo.status for todo in found] == ["in_progress", "pending", "pending"]
    assert response(studio)["output"].endswith("set back to pending: b; c.")


async def test_an_unknown_status_is_refused(studio: ConsentStudio) -> None:
    await studio.call("write_todos", {"todos": [{"description": "a", "status": "soon"}]})
    assert (await studio.session()).tools_state.todos == ()
    assert "wrong" in response(studio)["error"]


# --- plan mode


async def test_an_approved_plan_is_pinned_and_the_mode_is_the_one_that_the_person_chose(studio: ConsentStudio) -> None:
    await set_mode(await studio.session(), "plan")
    studio.person.words = [ACCEPTING]
    await studio.call("exit_plan_mode", {"plan": "1. Read.\n2. Write."})
    session = await studio.session()
    assert session.mode == "acceptEdits"
    assert [event.mode for event in studio.heard.of(ModeChanged)] == ["plan", "acceptEdits"]
    assert [pinned.text for pinned in session.history.standing] == [
        "The plan that the person approved:\n1. Read.\n2. Write."
    ]
    assert "approved" in response(studio)["output"]
    await studio.write("a.py", "x")
    assert studio.tool.written == {"/project/a.py": "x"}


@pytest.mark.parametrize(("words", "told"), [(PLANNING, "plan mode holds."), ("Begin with b.", "Begin with b.")])
async def test_a_plan_that_is_not_approved_leaves_plan_mode_and_says_why(
    studio: ConsentStudio, words: str, told: str
) -> None:
    await set_mode(await studio.session(), "plan")
    studio.person.words = [words]
    await studio.call("exit_plan_mode", {"plan": "1. Delete."})
    session = await studio.session()
    assert (session.mode, session.history.standing) == ("plan", ())
    assert response(studio)["error"].endswith(told)


async def test_in_plan_mode_nothing_is_written_and_the_model_is_told_the_way_out(studio: ConsentStudio) -> None:
    await set_mode(await studio.session(), "plan")
    await studio.write("a.py", "x")
    assert studio.tool.written == {}
    assert "exit_plan_mode" in response(studio)["error"]


async def test_there_is_no_plan_to_leave_outside_of_plan_mode(studio: ConsentStudio) -> None:
    await studio.call("exit_plan_mode", {"plan": "1. Write."})
    assert studio.person.questions == []
    assert "not plan mode" in response(studio)["error"]
