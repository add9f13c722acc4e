"""A rule that is taken back between the look at what is prepared and its append."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.engine.history.log import CompressionEntry, UnpinEntry
from gemini_companion.sessions.compression_events import CompressionPrepared
from gemini_companion.sessions.pins import pin, unpin
from tests.support.patience import PATIENCE, until
from tests.support.preparing_desk import begin, chat_at, hold_writes, reach_trigger, settled, within
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser


async def test_what_was_prepared_under_a_rule_that_is_taken_back_meanwhile_is_not_installed(
    desk: Studio, slow: SlowSummariser, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await chat_at(desk, 0.85)
    rule = await pin(session, text="Never use tabs.")
    slow.may_summarise.set()
    await desk.chat("go on")
    await desk.heard.wait_for(CompressionPrepared)
    reached, release = hold_writes(desk, monkeypatch, UnpinEntry)
    reach_trigger(desk, session)
    taken_back = begin(unpin(session, rule.pin_id))
    await within(reached)
    turn = begin(desk.chat("now"))
    await until(lambda: session.compressions.installing is not None)
    for _ in range(100):  # as far as it comes while that is being written
        await asyncio.sleep(0)
    release.set()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(taken_back, turn)
    await settled(session)
    installed = [entry for entry in session.history.entries if isinstance(entry, CompressionEntry)]
    assert installed == []
