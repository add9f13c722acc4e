"""What a compression that was prepared saves once it is installed: the true numbers, and never next to nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.history.tool_entries import MaskEntry
from gemini_companion.sessions.compression_events import CompressionPrepared
from gemini_companion.sessions.fitting import fit_view
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import load
from tests.support.conversations import agent_run, dialogue
from tests.support.preparing_desk import BOTH_CALLS, reach_trigger, settled
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser


def long_snapshot(notes: int) -> str:
    known = "".join(f"- note {number} of the run about parser and tests\n" for number in range(notes))
    return SNAPSHOT.replace("<key_knowledge>none", f"<key_knowledge>{known}")


@pytest.fixture
async def desk(tmp_path: Path) -> Any:
    await load("gemini_companion.sessions.compression.run")  # else the first is made of a longer chat than the others
    slow = SlowSummariser()
    slow.may_summarise.set()
    slow.default_answer = long_snapshot(300)
    studio = Studio(tmp_path, model=slow, compression_background="auto", compression_strategy="split")
    yield studio
    await studio.app.close()


async def masked_since(desk: Studio, room: int) -> Session:
    """A session at its trigger, whose outputs were shortened to so many tokens after a compression was prepared."""
    session = await desk.load(agent_run(14, 1500))
    desk.set(compression_token_cap=round(session.token_count(session.choice()).tokens / 0.85))
    await desk.chat("go on")
    await desk.heard.wait_for(CompressionPrepared)
    prepared = session.prepared.entry
    assert prepared is not None
    assert prepared.compression.hides is not None
    first, last = prepared.compression.hides
    await fit_view(session, room, texts=False)
    cuts = [cut for entry in session.history.entries if isinstance(entry, MaskEntry) for cut in entry.cuts]
    assert any(first <= cut.seq <= last for cut in cuts)
    await desk.chat("below the trigger")
    reach_trigger(desk, session)
    return session


async def test_what_masks_saved_already_is_not_saved_again_by_what_was_prepared_before(desk: Studio) -> None:
    session = await masked_since(desk, 14_000)
    before = session.token_count(session.choice())
    told = (await desk.chat("now")).compression
    assert told is not None
    assert (told.status, told.trigger) == ("COMPRESSED", "background")
    assert (told.original_token_count, told.token_count_source) == before
    assert told.new_token_count == pytest.approx(desk.model.count(desk.model.main()[-1]), rel=0.05)


async def test_what_would_not_make_the_request_smaller_any_more_is_not_installed(desk: Studio) -> None:
    session = await masked_since(desk, 4_000)
    assert (await desk.chat("now")).compression is None
    assert session.history.in_force == {}
    assert session.prepared.entry is None


async def nearly_all_fixed(desk: Studio, **more: Any) -> Session:
    """A session that is past its trigger even compressed, for that takes off only a hundredth of its request."""
    session = await desk.load(dialogue(6, 70), system_instruction="Keep to the rules of this house. " * 5_000)
    desk.model.default_answer = SNAPSHOT
    await desk.chat("go on")  # it is counted from here on
    desk.set(compression_token_cap=session.token_count(session.choice()).tokens - 2_000, **more)
    return session


@pytest.mark.parametrize("mode", ["auto", "off"])
async def test_where_next_to_nothing_is_saved_no_model_is_asked_at_every_prompt(desk: Studio, mode: str) -> None:
    desk.set(compression_background="off")
    session = await nearly_all_fixed(desk, compression_background=mode)
    for prompt in ("one", "two", "three", "four"):
        await desk.chat(f"{prompt} " + "word " * 200)
        await settled(session)
    asked = [request for request in desk.model.requests if request.role == "utility_compressor"]
    assert len(asked) == BOTH_CALLS
    assert len(session.history.in_force) == (mode == "off"), "one that is due is made once, as small as it is"
    assert not desk.heard.of(CompressionPrepared)
    assert session.token_count(session.choice()).tokens >= (session.mark(session.choice()).tokens or 0)


async def test_what_would_save_next_to_nothing_at_the_trigger_is_not_installed(desk: Studio) -> None:
    desk.model.default_answer = long_snapshot(345)
    session = await masked_since(desk, 7_600)
    assert (await desk.chat("now")).compression is None
    assert session.history.in_force == {}


async def test_what_was_dropped_at_the_trigger_is_not_prepared_again_until_the_chat_has_grown(desk: Studio) -> None:
    desk.model.default_answer = long_snapshot(345)
    session = await masked_since(desk, 7_600)
    asked = summaries(desk)
    for prompt in ("now", "and now", "once more"):
        assert (await desk.chat(prompt)).compression is None
        await settled(session)
    assert session.prepared.entry is None, "it was dropped"
    assert summaries(desk) == asked


def summaries(desk: Studio) -> int:
    return sum(request.role == "utility_compressor" for request in desk.model.requests)
