"""Strategies, compressing up to a turn and from one on, as sessions run them."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT
from gemini_companion.engine.history.sendable import sendable
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.inspection import compression_list
from tests.support.conversations import agent_run, dialogue
from tests.support.patience import PATIENCE, until_in
from tests.support.scripted_model import SNAPSHOT, snapshot_with
from tests.support.sessions import Studio
from tests.support.strategy_rules import NAMES

MIXED = [*dialogue(4), *agent_run(8), model_text("All green."), *dialogue(4)]
LIMIT = 12_000
"""Tokens: a window in which every strategy has something to do."""


def turns_of(session: Session) -> list[str]:
    return list(dict.fromkeys(item.turn_id for item in session.history.sources))


def roles(contents: list[Content]) -> list[str]:
    return [content.role for content in sendable(contents)]


async def with_turns(studio: Studio, count: int = 5) -> Session:
    """A chat of so many turns with long answers."""
    studio.model.default_stream = " ".join(f"answer {number}" for number in range(100))
    for number in range(count):
        await studio.chat(f"question {number} " + "word " * 100)
    return await studio.session()


@pytest.mark.parametrize("name", NAMES)
async def test_every_strategy_shrinks_a_chat_says_its_name_and_is_undone_exactly(
    studio: Studio, name: StrategyName
) -> None:
    studio.set(token_limit_override=LIMIT)
    session = await studio.load(MIXED)
    before = session.history.contents()
    result = await studio.compress(strategy=name)
    assert (result.status, result.strategy) == ("COMPRESSED", name)
    assert result.new_token_count < result.original_token_count
    assert result.kept_contents is not None
    assert result.kept_contents <= len(session.history.contents()) < len(before)
    assert all(
        first != second
        for first, second in zip(roles(session.history.contents()), roles(session.history.contents())[1:], strict=False)
    )
    await studio.chat("go on")
    await undo(session, client="test")
    assert session.history.contents()[: len(before)] == before
    assert len(session.history.contents()) == len(before) + 2


async def test_the_setting_chooses_the_strategy_and_a_request_another(studio: Studio) -> None:
    await studio.load(MIXED)
    studio.set(compression_strategy="userMessages", token_limit_override=LIMIT)
    assert (await studio.compress(preview=True)).strategy == "userMessages"
    assert (await studio.compress(preview=True, strategy="split")).strategy == "split"
    studio.set(compression_token_cap=500)
    await studio.load(MIXED)  # over a preview that stands nothing is installed that nobody asked for
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert answered.compression.strategy == "userMessages"


async def test_an_automatic_run_whose_strategy_finds_nothing_does_as_split(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.set(compression_strategy="reserve", compression_token_cap=500)
    assert (await studio.compress()).status == "NOOP"  # by hand it is what was asked for
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert (answered.compression.status, answered.compression.strategy) == ("COMPRESSED", "split")


async def test_assembling_asks_no_model_and_quotes_the_rules(studio: Studio) -> None:
    session = await studio.load([*agent_run(8), model_text("All green."), *dialogue(6)])
    result = await studio.compress(strategy="assemble")
    assert (result.status, result.model_calls) == ("COMPRESSED", 0)
    assert studio.model.kinds() == []
    assert result.snapshot is not None
    assert result.snapshot.startswith("<state_snapshot>")
    assert any("never touch legacy/" in visible_text(content) for content in session.history.contents())


async def test_user_messages_leaves_what_people_wrote_and_the_snapshot(studio: Studio) -> None:
    session = await studio.load(dialogue(6))
    prompts = [content for content in session.history.contents() if content.role == "user"]
    await studio.compress(strategy="userMessages")
    assert session.history.contents() == [*prompts, user_text(SNAPSHOT), model_text(ACKNOWLEDGEMENT)]


async def test_an_earlier_snapshot_goes_into_the_next_layer_word_for_word_and_to_no_model(studio: Studio) -> None:
    session = await with_turns(studio, 6)
    studio.model.default_answer = snapshot_with("Mend the parser on port 8123.")
    await studio.compress(strategy="hierarchical")
    for number in range(6):
        await studio.chat(f"another question {number} " + "word " * 100)
    studio.model.default_answer = snapshot_with("Write the manual.")
    asked = len(studio.model.requests)
    result = await studio.compress(strategy="hierarchical")
    quoted = "".join(visible_text(content) for request in studio.model.requests[asked:] for content in request.contents)
    assert result.status == "COMPRESSED"
    assert "8123" not in quoted
    assert result.snapshot is not None
    assert "(earlier) Mend the parser on port 8123.\nWrite the manual." in result.snapshot
    assert result.snapshot.count("Never touch legacy/.") == 1
    assert visible_text(session.history.contents()[0]) == result.snapshot


# --- up to a turn, and from one on


@pytest.mark.usefixtures("by_split")
async def test_compressing_up_to_a_turn_hides_it_and_all_before_and_leaves_the_rest(studio: Studio) -> None:
    session = await with_turns(studio)
    before, turns = session.history.contents(), turns_of(session)
    result = await studio.compress(up_to=turns[1])
    assert result.status == "COMPRESSED"
    assert session.history.contents() == [user_text(SNAPSHOT), model_text(ACKNOWLEDGEMENT), *before[4:]]
    assert [session.history.is_hidden(turn) for turn in turns] == [True, True, False, False, False]


@pytest.mark.usefixtures("by_split")
async def test_compressing_from_a_turn_leaves_what_came_before_word_for_word(studio: Studio) -> None:
    session = await with_turns(studio)
    before, turns = session.history.contents(), turns_of(session)
    result = await studio.compress(since=turns[2])
    assert result.status == "COMPRESSED"
    assert session.history.contents() == [*before[:4], user_text(SNAPSHOT), model_text(ACKNOWLEDGEMENT)]
    assert result.kept_contents == 4
    await studio.chat("go on")
    await undo(session, client="test")
    assert session.history.contents()[:10] == before
    assert len(session.history.contents()) == 12


async def test_two_snapshots_stand_beside_each_other_with_the_pins_once_and_become_one_with_the_next(
    studio: Studio,
) -> None:
    session = await with_turns(studio, 6)
    await pin(session, text="tabs, not spaces", turn_id=None)
    turns = turns_of(session)
    studio.model.default_answer = snapshot_with("Late work.")
    await studio.compress(since=turns[4])
    studio.model.default_answer = snapshot_with("Early work.")
    await studio.compress(up_to=turns[1])
    kinds = [item.kind for item in session.history.curated()]
    assert kinds.count("snapshot") == 2
    assert kinds.count("pin") == 1
    assert [info.state for info in compression_list(session).compressions] == ["inForce", "inForce"]
    asked = len(studio.model.requests)
    for number in range(3):
        await studio.chat(f"more {number} " + "word " * 100)
    await studio.compress()
    quoted = "".join(visible_text(content) for request in studio.model.requests[asked:] for content in request.contents)
    assert "Early work." in quoted
    assert "Late work." in quoted
    assert [item.kind for item in session.history.curated()].count("snapshot") == 1


async def test_a_preview_of_a_reach_can_be_applied_and_edited(studio: Studio) -> None:
    session = await with_turns(studio)
    before, turns = session.history.contents(), turns_of(session)
    shown = await studio.compress(since=turns[2], preview=True)
    assert (shown.status, session.history.contents()) == ("PREVIEW", before)
    assert shown.compression_id is not None
    assert shown.verdict is not None
    applied = await apply_preview(
        session, client="test", compression_id=shown.compression_id, snapshot=snapshot_with("Edited.")
    )
    assert (applied.status, applied.kept_contents) == ("COMPRESSED", 4)
    assert session.history.contents()[:4] == before[:4]
    assert "Edited." in visible_text(session.history.contents()[4])


async def test_a_turn_that_is_hidden_already_is_told_with_what_to_do(studio: Studio) -> None:
    session = await with_turns(studio)
    turns = turns_of(session)
    await studio.compress(up_to=turns[1])
    for result in (await studio.compress(up_to=turns[0]), await studio.compress(since=turns[1])):
        assert result.status == "NOOP"
        assert "Undo it first" in result.message
    assert len(session.history.compressions) == 1


async def test_a_turn_that_there_is_not_is_refused_by_its_name(studio: Studio) -> None:
    await with_turns(studio, 2)
    with pytest.raises(InvalidInput, match="no turn 'nobody'"):
        await studio.compress(up_to="nobody")


async def test_a_request_that_names_turns_runs_behind_another_compression_and_joins_its_like(studio: Studio) -> None:
    session = await with_turns(studio, 6)
    turns = turns_of(session)
    studio.model.gate.clear()
    studio.model.called.clear()
    first = asyncio.create_task(studio.compress(up_to=turns[1]))
    await asyncio.wait_for(studio.model.called.wait(), PATIENCE)
    like = asyncio.create_task(studio.compress(up_to=turns[1]))
    await until_in(Job.wait, 2)
    other = asyncio.create_task(studio.compress(since=turns[5]))
    await until_in(Job.wait, 3)
    plain = asyncio.create_task(studio.compress())
    await until_in(Job.wait, 4)
    studio.model.gate.set()
    results = [await task for task in (first, like, other, plain)]
    ids = [result.compression_id for result in results]
    assert ids[0] == ids[1] == ids[3] != ids[2]
    assert [info.state for info in compression_list(session).compressions] == ["inForce", "inForce"]
