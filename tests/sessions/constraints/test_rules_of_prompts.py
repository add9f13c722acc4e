"""Rules that a prompt lays down: taken in, proposed, replaced, and in every request from then on."""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import Any

import pytest

from gemini_companion.engine.constraints.budget import BUDGET_CHARACTERS
from gemini_companion.engine.errors import Unauthenticated
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.pinned import NEWER
from gemini_companion.sessions.constraints.setting import set_constraint
from gemini_companion.sessions.constraints.taking import MAY_END, MOST_PROPOSED
from gemini_companion.sessions.events import ConstraintsChanged
from gemini_companion.sessions.pins import pin
from tests.support.conversations import dialogue
from tests.support.sessions import Studio

LONG = "word " * 600


def texts(request: Any) -> str:
    return "\n".join(part.get("text", "") for content in request.contents for part in content.parts)


async def rules(studio: Studio) -> list[tuple[str, str]]:
    return [(one.text, one.state) for one in (await studio.session()).history.constraints.all()]


async def test_a_plain_rule_is_in_force_at_once_and_the_turns_event_says_so(studio: Studio):
    answer = await studio.chat("Never touch legacy/. Mend the parser.")
    assert await rules(studio) == [("Never touch legacy/.", "inForce")]
    told = [(turn, event) for _, _, turn, event in studio.heard.sent if isinstance(event, ConstraintsChanged)]
    ((turn_id, event),) = told
    assert turn_id == answer.turn_id
    (one,) = event.constraints
    assert (one.source, one.scope, one.turn_id) == ("prompt", "session", answer.turn_id)


@pytest.mark.usefixtures("by_split")
async def test_what_may_be_a_rule_is_proposed_and_is_not_pinned(studio: Studio):
    studio.set(compression_gate=False)  # it would quote the sentence, as something that the user said
    await studio.load(dialogue())
    await studio.chat("Prefer composition over inheritance. Go on.")
    for _ in range(4):
        await studio.chat(LONG)
    await studio.compress()
    assert await rules(studio) == [("Prefer composition over inheritance.", "proposed")]
    await studio.chat("more")
    assert "Prefer composition" not in texts(studio.model.main()[-1])


@pytest.mark.parametrize(("mode", "expected"), [("ask", [("Never push.", "proposed")]), ("off", [])])
async def test_the_setting_says_what_becomes_of_it(studio: Studio, mode: str, expected: list[tuple[str, str]]):
    studio.set(compression_constraints=mode)
    await studio.chat("Never push.")
    assert await rules(studio) == expected


async def test_a_rule_that_is_in_force_already_is_not_taken_in_again(studio: Studio):
    await studio.chat("Never push.")
    await studio.chat("never push! And now the tests.")
    assert await rules(studio) == [("Never push.", "inForce")]


async def test_a_later_rule_replaces_the_one_that_it_contradicts(studio: Studio):
    await studio.chat("Always use spaces.")
    await studio.chat("From now on use tabs instead of spaces.")
    old, new = (await studio.session()).history.constraints.all()
    assert (old.state, old.replaced_by, new.state, new.replaces) == (
        "released",
        new.constraint_id,
        "inForce",
        old.constraint_id,
    )


async def test_what_is_allowed_takes_back_a_ban_and_is_nothing_where_there_is_none(studio: Studio):
    await studio.chat("You may now edit legacy/.")
    assert await rules(studio) == []
    await studio.chat("Never touch legacy/.")
    await studio.chat("You may now edit legacy/.")
    assert await rules(studio) == [("Never touch legacy/.", "released"), ("You may now edit legacy/.", "inForce")]


async def test_what_is_forbidden_until_the_person_agrees_ends_with_their_ordinary_words(studio: Studio):
    await studio.chat("Don't push to origin yet.")
    assert await rules(studio) == [("Don't push to origin yet.", "inForce")]
    await studio.chat("ok you can push now")
    old, new = (await studio.session()).history.constraints.all()
    assert (old.state, old.replaced_by, new.text) == ("released", new.constraint_id, "ok you can push now")


async def test_a_proposal_says_why_it_is_one(studio: Studio):
    await studio.chat("Prefer composition over inheritance. Go on.")
    studio.set(compression_constraints="ask")
    await studio.chat("Never push.")
    (passing, asked) = (await studio.session()).history.constraints.all()
    assert "in passing" in (passing.note or "")
    assert "settings" in (asked.note or "")


async def test_a_proposal_that_later_words_take_back_is_put_aside_with_those_words(studio: Studio):
    await studio.chat("The answers should stay below five lines.")
    assert [state for _, state in await rules(studio)] == ["proposed"]
    await studio.chat("Actually forget about the five lines, long answers are fine.")
    (one,) = (await studio.session()).history.constraints.all()
    assert one.state == "released"
    assert "forget about the five lines" in (one.note or "")


async def test_asked_first_a_contradiction_waits_for_the_persons_word(studio: Studio):
    await studio.chat("Never touch legacy/.")
    studio.set(compression_constraints="ask")
    await studio.chat("You may now edit legacy/.")
    assert [state for _, state in await rules(studio)] == ["inForce", "proposed"]
    session = await studio.session()
    await set_constraint(session, constraint_id=session.history.constraints.all()[1].constraint_id, state="inForce")
    assert [state for _, state in await rules(studio)] == ["released", "inForce"]


async def test_a_turn_that_replaces_another_one_takes_its_rules_back(studio: Studio):
    first = await studio.chat("Never push. Write the tests.")
    await studio.chat("Always sign commits. Write the tests.", replaces=first.turn_id)
    assert await rules(studio) == [("Never push.", "released"), ("Always sign commits.", "inForce")]
    assert "Never push" not in texts(studio.model.main()[-1])


async def test_a_turn_that_says_the_rule_again_keeps_it(studio: Studio):
    first = await studio.chat("Never push. Write the tests.")
    await studio.chat("Never push. Write better tests.", replaces=first.turn_id)
    assert [one.text for one in (await studio.session()).history.standing] == ["Never push."]


async def test_a_proposal_that_the_person_set_since_stays_and_is_not_made_again(studio: Studio):
    studio.set(compression_constraints="ask")
    first = await studio.chat("Never push. Write the tests.")
    session = await studio.session()
    (one,) = session.history.constraints.all()
    await set_constraint(session, constraint_id=one.constraint_id, state="released")
    await set_constraint(session, constraint_id=one.constraint_id, state="proposed")
    await studio.chat("Never push. Write better tests.", replaces=first.turn_id)
    assert await rules(studio) == [("Never push.", "proposed")]


async def test_proposals_that_go_with_the_replaced_turn_push_out_no_other(studio: Studio):
    studio.set(compression_constraints="ask")
    await studio.chat("Never push.")
    many = "\n".join(f"Never use the name n{number}." for number in range(MOST_PROPOSED - 1))
    first = await studio.chat(many)
    await studio.chat(f"{many}\nGo on.", replaces=first.turn_id)
    assert (await rules(studio))[0] == ("Never push.", "proposed")
    assert [state for _, state in await rules(studio)].count("proposed") == MOST_PROPOSED


async def test_without_a_new_answer_the_rules_are_as_they_were(studio: Studio):
    first = await studio.chat("Never push. Write the tests.")
    studio.model.streams = [Unauthenticated("down")]
    with pytest.raises(Unauthenticated):
        await studio.chat("Always sign commits. Go on.", replaces=first.turn_id)
    assert await rules(studio) == [("Never push.", "inForce")]


async def test_a_rule_holds_though_the_turn_that_brought_it_failed(studio: Studio):
    studio.model.streams = [Unauthenticated("down")]
    with pytest.raises(Unauthenticated):
        await studio.chat("Never push. Write the tests.")
    await studio.chat("Write the tests.")
    assert "Never push." in texts(studio.model.main()[-1])


async def test_beyond_the_budget_a_rule_is_proposed_with_the_reason_and_those_in_force_stay(studio: Studio):
    session = await studio.session()
    await pin(session, text="x" * (BUDGET_CHARACTERS - 20))
    await studio.chat("Never push.\nNever use the letter e in names.")
    ours, small, large = session.history.constraints.all()
    assert (ours.state, small.state, large.state) == ("inForce", "inForce", "proposed")
    assert large.note is not None
    assert "Release one" in large.note


async def test_of_too_many_proposals_the_oldest_is_put_aside_with_the_reason(studio: Studio):
    studio.set(compression_constraints="ask")
    await studio.chat("\n".join(f"Never use the name n{number}." for number in range(MOST_PROPOSED)))
    await studio.chat("Never use the name of a colleague.")
    everything = (await studio.session()).history.constraints.all()
    assert [one.text for one in everything if one.state == "released"] == ["Never use the name n0."]
    assert everything[0].note is not None
    assert everything[-1].state == "proposed"


async def test_in_every_request_each_rule_stands_after_compressing_undoing_forking_and_another_model(studio: Studio):
    await studio.load(dialogue())
    await studio.chat("Never push. Mend the parser.")
    await studio.chat(LONG)
    await studio.chat(LONG)
    await studio.compress()
    await studio.chat("go on")
    await studio.app.fork(studio.client, (await studio.session()).session_id, None)
    await studio.chat("go on here")
    await studio.chat("go on", model="gemini-2.5-flash")
    await studio.compress()
    await studio.chat(LONG)
    requests = studio.model.main()
    assert all("Never push." in texts(request) for request in requests)
    assert {request.model for request in requests} == {"gemini-2.5-pro", "gemini-2.5-flash"}


async def test_a_request_that_would_lack_a_rule_gets_it_and_the_defect_is_logged(
    studio: Studio, caplog: pytest.LogCaptureFixture
):
    session = await studio.session()
    await set_constraint(session, state="inForce", text="Never push.")
    whole = session.request_contents

    def lossy(*more: Content, close: bool = False) -> tuple[Content, ...]:
        return whole(*more, close=close)[-1:]

    session.request_contents = lossy  # as a defect anywhere in composing a view would have it
    with caplog.at_level(logging.ERROR):
        await studio.chat("hello")
    assert "Never push." in texts(studio.model.main()[-1])
    assert "Defect" in caplog.text
    roles = [content.role for content in studio.model.main()[-1].contents]
    assert all(first != second for first, second in pairwise(roles))


async def test_the_offline_model_takes_a_pinned_rule_for_one_and_the_prompt_for_a_prompt(studio: Studio):
    session = await studio.session()
    one: Constraint = await set_constraint(session, state="inForce", text="Never push.")
    await studio.chat("What is a monad?")
    first, second, last = studio.model.main()[-1].contents
    assert first.parts[-1]["text"] == one.text
    assert second.role == "model"
    assert last.parts[-1]["text"] == "What is a monad?"


async def test_words_that_may_end_a_rule_are_asked_about_and_the_rule_holds_until_they_are_taken(studio: Studio):
    await studio.load(dialogue())
    await studio.chat("Never push to main without asking me.")
    await studio.chat("you can push now")
    old, new = (await studio.session()).history.constraints.all()
    assert (old.state, new.state, new.replaces, new.note) == ("inForce", "proposed", old.constraint_id, MAY_END)
    await set_constraint(await studio.session(), constraint_id=new.constraint_id, state="inForce")
    assert [state for _, state in await rules(studio)] == ["released", "inForce"]


async def test_once_hidden_such_words_stand_behind_the_rule_marked_as_newer(studio: Studio):
    await studio.load(dialogue())
    await studio.chat("Never push to main without asking me.")
    await studio.chat("you can push now")
    assert NEWER not in texts(studio.model.main()[-1])
    for _ in range(4):
        await studio.chat(LONG)
    await studio.compress()
    await studio.chat("go on")
    parts = [part.get("text") for content in studio.model.main()[-1].contents for part in content.parts]
    at = parts.index("Never push to main without asking me.")
    assert parts[at + 1] == f"{NEWER}you can push now"
    session = await studio.session()
    await set_constraint(session, constraint_id=session.history.constraints.all()[1].constraint_id, state="released")
    await studio.chat("go on")
    assert NEWER not in texts(studio.model.main()[-1])
    assert "Never push to main without asking me." in texts(studio.model.main()[-1])


async def test_later_words_that_end_the_rule_plainly_settle_the_question(studio: Studio):
    await studio.chat("Never push to main without asking me.")
    await studio.chat("you can push now")
    await studio.chat("From here on you may push to main without asking.")
    assert [state for _, state in await rules(studio)] == ["released", "released", "inForce"]


async def test_without_the_turn_that_asked_the_question_is_gone(studio: Studio):
    await studio.chat("Never push to main without asking me.")
    first = await studio.chat("you can push now")
    await studio.chat("write the tests", replaces=first.turn_id)
    assert [state for _, state in await rules(studio)] == ["inForce", "released"]


async def test_with_a_rule_that_is_released_by_hand_goes_what_was_only_asked_about_it(studio: Studio):
    await studio.chat("Never push to main without asking me.")
    await studio.chat("you can push now")
    session = await studio.session()
    await set_constraint(session, constraint_id=session.history.constraints.all()[0].constraint_id, state="released")
    assert [state for _, state in await rules(studio)] == ["released", "released"]
