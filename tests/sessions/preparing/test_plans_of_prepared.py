"""What a compression that is prepared beside the chat is planned from."""

from __future__ import annotations

from pathlib import Path

from gemini_companion.sessions.compression.job import new_compression
from gemini_companion.sessions.compression.reach import planned_contents
from tests.support.conversations import agent_run
from tests.support.preparing_desk import chat_at, settled
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser


async def test_what_a_turn_adds_while_a_plan_is_made_is_no_part_of_it(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.load(agent_run(4))
    before = session.history.curated()
    compression = new_compression(session, "prepare", "background")
    compression.as_of = session.history.version
    await studio.chat("go on")
    assert len(session.history.curated()) == len(before) + 2
    assert planned_contents(session, compression) == before
    session.compressions.discard(compression)
    await studio.app.close()


async def test_one_that_begins_with_a_turn_is_planned_from_what_was_there_before_it(tmp_path: Path) -> None:
    slow = SlowSummariser()
    slow.may_summarise.set()
    slow.default_answer = SNAPSHOT
    studio = Studio(tmp_path, model=slow, compression_background="auto")
    session = await chat_at(studio, 0.85)
    there = session.history.version
    await studio.chat("go on")
    await settled(session)
    (one,) = [entry for entry in (session.prepared.entry,) if entry is not None]
    assert one.compression.hides is not None
    assert one.compression.hides[1] <= there
    await studio.app.close()
