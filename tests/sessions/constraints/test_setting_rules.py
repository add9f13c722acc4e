"""Rules that a person sets through a client: for a session, or for the whole project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.constraints.budget import BUDGET_CHARACTERS
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.constraint import ConstraintScope
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.constraints.setting import check_wish, set_constraint
from gemini_companion.sessions.events import ConstraintsChanged
from gemini_companion.sessions.pins import pin, unpin
from gemini_companion.sessions.session import Session
from tests.support.sessions import Studio


def states(session: Session) -> list[tuple[str, str]]:
    return [(one.text, one.state) for one in session.history.constraints.all()]


def tag_of(entry: Entry) -> object:
    return entry.__struct_config__.tag


def sent(studio: Studio) -> str:
    return "\n".join(part.get("text", "") for content in studio.model.main()[-1].contents for part in content.parts)


@pytest.mark.parametrize(("constraint_id", "text"), [(None, None), (None, " \n"), ("c", "")])
def test_a_wish_names_a_rule_or_says_one(constraint_id: str | None, text: str | None):
    with pytest.raises(InvalidInput):
        check_wish(constraint_id, text)


async def test_a_rule_is_made_reworded_released_and_taken_in_again(studio: Studio):
    session = await studio.session()
    made = await set_constraint(session, state="inForce", text="Never push.")
    assert (made.source, made.scope, made.turn_id) == ("client", "session", None)
    again = await set_constraint(session, constraint_id=made.constraint_id, state="inForce", text="Never push to main.")
    assert (again.constraint_id, again.created_at) == (made.constraint_id, made.created_at)
    assert states(session) == [("Never push to main.", "inForce")]
    await set_constraint(session, constraint_id=made.constraint_id, state="released")
    await studio.chat("hello")
    assert "Never push" not in sent(studio)
    await set_constraint(session, constraint_id=made.constraint_id, state="inForce")
    await studio.chat("hello")
    assert "Never push to main." in sent(studio)
    assert len(studio.heard.of(ConstraintsChanged)) == 4


async def test_a_new_rule_replaces_the_one_that_it_contradicts(studio: Studio):
    session = await studio.session()
    await set_constraint(session, state="inForce", text="Always use tabs.")
    await set_constraint(session, state="inForce", text="Never use tabs.")
    assert states(session) == [("Always use tabs.", "released"), ("Never use tabs.", "inForce")]


async def test_nobody_elses_id_is_taken_and_nothing_beyond_the_budget(studio: Studio):
    session = await studio.session()
    with pytest.raises(InvalidInput, match="nothing-of-mine"):
        await set_constraint(session, constraint_id="nothing-of-mine", state="inForce")
    with pytest.raises(InvalidInput) as refused:
        await set_constraint(session, state="inForce", text="x" * (BUDGET_CHARACTERS + 1))
    assert refused.value.hint
    assert states(session) == []


async def test_what_makes_rules_beyond_the_budget_shorter_is_not_refused(studio: Studio):
    session = await studio.session()
    rule = await set_constraint(session, state="inForce", text="Never push to a branch of somebody else.")
    await pin(session, text="x" * BUDGET_CHARACTERS)
    await set_constraint(session, constraint_id=rule.constraint_id, state="inForce", text="Never push.")
    assert "Never push." in [one.text for one in session.history.standing]
    with pytest.raises(InvalidInput):
        await set_constraint(session, constraint_id=rule.constraint_id, state="inForce", text="Never push at all.")


@pytest.mark.parametrize("scope", ["session", "project"])
async def test_rules_that_are_set_at_the_same_time_fit_the_budget_together(studio: Studio, scope: ConstraintScope):
    session = await studio.session()
    asked = [set_constraint(session, state="inForce", scope=scope, text=letter * 9_000) for letter in "abc"]
    refused = [one for one in await asyncio.gather(*asked, return_exceptions=True) if isinstance(one, InvalidInput)]
    assert len(refused) == 2
    assert len(session.history.standing) == 1


async def test_the_rules_of_a_project_fit_one_budget_whichever_sessions_set_them(opened: Callable[[], Studio]):
    studio, other = opened(), opened()
    first, second = await studio.session(), await other.session()
    texts = [letter * 7_000 for letter in "abc"]
    for session, text in zip((first, second), texts, strict=False):
        await set_constraint(session, state="inForce", scope="project", text=text)
    await studio.app.new_session(studio.client)
    with pytest.raises(InvalidInput, match="project's") as refused:
        await set_constraint(first, state="inForce", scope="project", text=texts[2])
    assert refused.value.hint
    assert states(first) == [(texts[0], "inForce"), (texts[1], "inForce")], "those that count are listed"
    assert [one.text for one in await studio.store.constraints()] == texts[:2]
    for one in await studio.store.constraints():
        await set_constraint(first, constraint_id=one.constraint_id, state="released")
    await set_constraint(first, state="inForce", scope="project", text=texts[2])
    await other.chat("hello")
    assert [one.text for one in second.history.standing] == [texts[2]]


async def test_a_rule_of_the_project_without_room_in_a_session_is_proposed_there_until_there_is(
    opened: Callable[[], Studio],
):
    studio = opened()
    first = await studio.session()
    await studio.app.new_session(studio.client)
    second = await studio.session()
    own = await set_constraint(second, state="inForce", text="x" * (BUDGET_CHARACTERS - 5))
    await set_constraint(first, state="inForce", scope="project", text="Never push.")
    await studio.chat("hello", session_id=second.session_id)
    shared = second.history.constraints.all()[-1]
    assert (shared.text, shared.state) == ("Never push.", "proposed")
    assert "Release one" in (shared.note or "")
    told = len(second.history.entries)
    await studio.chat("hello", session_id=second.session_id)
    assert [tag_of(entry) for entry in second.history.entries[told:]].count("constraint") == 0
    await set_constraint(second, constraint_id=own.constraint_id, state="released")
    await studio.chat("hello", session_id=second.session_id)
    assert second.history.constraints.all()[-1].state == "inForce"
    assert second.history.constraints.all()[-1].note is None
    assert [one.state for one in await studio.store.constraints()] == ["inForce"]


async def test_a_pin_is_a_rule_in_force_and_releasing_it_unpins_it(studio: Studio):
    session = await studio.session()
    pinned = await pin(session, text="Never push.")
    (one,) = session.history.constraints.all()
    assert (one.constraint_id, one.source, one.state) == (pinned.pin_id, "pin", "inForce")
    with pytest.raises(InvalidInput):
        await set_constraint(session, constraint_id=pinned.pin_id, state="proposed")
    await set_constraint(session, constraint_id=pinned.pin_id, state="released")
    assert not session.history.pins
    assert states(session) == [("Never push.", "released")]
    await set_constraint(session, constraint_id=pinned.pin_id, state="inForce")
    assert [kept.text for kept in session.history.pins.values()] == ["Never push."]
    await unpin(session, pinned.pin_id)
    assert states(session) == [("Never push.", "released")]


async def test_a_rule_of_the_project_holds_in_every_session_of_it(opened: Callable[[], Studio]):
    studio = opened()
    first = await studio.session()
    rule = await set_constraint(first, state="inForce", scope="project", text="Never push.")
    await studio.app.new_session(studio.client)
    second = await studio.session()
    assert states(second) == [("Never push.", "inForce")]
    await studio.chat("hello")
    assert "Never push." in sent(studio)
    await set_constraint(second, constraint_id=rule.constraint_id, state="released")
    assert states(first) == [("Never push.", "inForce")]
    await studio.chat("hello", session_id=first.session_id)
    assert states(first) == [("Never push.", "released")]


async def test_another_process_gets_the_projects_rules_with_the_session_that_it_opens(opened: Callable[[], Studio]):
    studio, other = opened(), opened()
    session = await studio.session()
    await studio.app.new_session(studio.client)
    await set_constraint(await studio.session(), state="inForce", scope="project", text="Never push.")
    await studio.app.close()
    await other.app.open_session(other.client, session.session_id)
    assert states(await other.session()) == [("Never push.", "inForce")]
    again = len((await other.session()).history.entries)
    await other.chat("hello")
    entries = (await other.session()).history.entries
    assert sum(entry.__struct_config__.tag == "constraint" for entry in entries[again:]) == 0


async def test_a_rule_that_one_session_made_its_own_is_left_alone_there(opened: Callable[[], Studio]):
    studio = opened()
    first = await studio.session()
    rule = await set_constraint(first, state="inForce", scope="project", text="Never push.")
    await studio.app.new_session(studio.client)
    second = await studio.session()
    await set_constraint(second, constraint_id=rule.constraint_id, state="inForce", scope="session")
    await studio.chat("hello", session_id=first.session_id)
    await studio.chat("hello", session_id=second.session_id)
    assert states(first) == [("Never push.", "released")]
    assert states(second) == [("Never push.", "inForce")]


async def test_the_projects_rules_survive_a_damaged_row(opened: Callable[[], Studio]):
    studio = opened()
    await set_constraint(await studio.session(), state="inForce", scope="project", text="Never push.")
    store: Any = studio.store
    await store.worker.run(
        "write", lambda connection: connection.execute("INSERT INTO constraints VALUES ('x', ?, 0)", (b"rotten",))
    )
    assert [one.text for one in await store.constraints()] == ["Never push."]


async def test_our_own_export_brings_rules_back_as_proposals_and_a_fork_keeps_them(studio: Studio, tmp_path: Path):
    await studio.chat("Never push. Mend the parser.")
    session = await studio.session()
    text = "".join(await studio.app.export(studio.client, session.session_id, "companion"))
    await studio.app.fork(studio.client, session.session_id, None)
    assert states(await studio.session()) == [("Never push.", "inForce")]
    (tmp_path / "s.json").write_text(text, "utf-8")
    await studio.app.import_session(studio.client, str(tmp_path / "s.json"))
    here = await studio.session()
    (one,) = here.history.constraints.all()
    assert (one.text, one.state, one.scope) == ("Never push.", "proposed", "session")
    assert one.note is not None
    await set_constraint(here, constraint_id=one.constraint_id, state="inForce")
    await studio.chat("hello")
    assert "Never push." in sent(studio)
