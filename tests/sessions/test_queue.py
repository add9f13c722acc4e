"""Prompts that wait for their turn: how many may, what their positions are, and what leaves the queue."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled, Overloaded
from gemini_companion.engine.history.log import TurnEndEntry
from gemini_companion.sessions.events import PromptQueued, TurnCancelled, TurnStarted
from gemini_companion.sessions.lane import QUEUE_LIMIT, Job, Lane
from tests.sessions.test_cancelling import HeldStore, dialogue
from tests.support.patience import PATIENCE, until, until_in
from tests.support.sessions import Studio


async def queued(studio: Studio, count: int) -> list[asyncio.Task[Any]]:
    """So many prompts that wait behind one that runs; the first of the tasks is that one's."""
    studio.model.gate.clear()
    tasks = [asyncio.create_task(studio.chat("prompt 0"))]
    await studio.heard.wait_for(TurnStarted)
    for number in range(1, count + 1):
        tasks.append(asyncio.create_task(studio.chat(f"prompt {number}")))
        await until(lambda number=number: len(studio.heard.of(PromptQueued)) == number)
    return tasks


def turn_ids(studio: Studio) -> list[str]:
    """The turns that were queued, in order."""
    return [turn or "" for _, _, turn, event in studio.heard.sent if isinstance(event, PromptQueued)]


async def test_cancelled_prompts_make_room_before_their_end_is_written(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.session()
    tasks = await queued(studio, QUEUE_LIMIT)
    with pytest.raises(Overloaded):
        await studio.chat("one too many")
    held = HeldStore(studio, monkeypatch, TurnEndEntry)
    for turn_id in turn_ids(studio):
        assert (await studio.app.cancel(studio.client, None, turn_id=turn_id)).cancelled
    async with asyncio.timeout(PATIENCE):
        await held.reached.wait()
        last = asyncio.create_task(studio.chat("the next one"))
        while len(studio.heard.of(PromptQueued)) == QUEUE_LIMIT and not last.done():
            await asyncio.sleep(0)
        held.release.set()
        studio.model.gate.set()
        assert (await last).text == "Done. "
        assert studio.heard.of(PromptQueued)[-1].position == 1
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes[1:]] == [Cancelled] * QUEUE_LIMIT
    assert len(studio.heard.of(TurnCancelled)) == QUEUE_LIMIT


async def test_positions_count_only_what_still_waits(studio: Studio) -> None:
    await studio.session()
    tasks = await queued(studio, 3)
    await studio.app.cancel(studio.client, None, turn_id=turn_ids(studio)[1])
    tasks.append(asyncio.create_task(studio.chat("another")))
    async with asyncio.timeout(PATIENCE):
        while len(studio.heard.of(PromptQueued)) < 4:
            await asyncio.sleep(0)
        studio.model.gate.set()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert [event.position for event in studio.heard.of(PromptQueued)] == [1, 2, 3, 3]


async def test_a_queued_compression_that_is_cancelled_is_not_waited_for(studio: Studio) -> None:
    session = await studio.load(dialogue())
    await queued(studio, 0)
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
        first = asyncio.create_task(studio.compress())
        while session.compressions.installing is None:
            await asyncio.sleep(0)
        assert (
            await studio.app.cancel(studio.client, None, compression_id=session.compressions.installing.compression_id)
        ).cancelled
        with pytest.raises(Cancelled):
            await first
        second = asyncio.create_task(studio.compress())
        await until(lambda: session.compressions.installing is not None)
        studio.model.gate.set()
        assert (await second).status == "COMPRESSED"


async def test_draining_waits_for_the_end_of_what_was_cancelled_in_the_queue() -> None:
    release, ended = asyncio.Event(), list[str]()

    async def work(_: Job[None]) -> None:
        await release.wait()

    async def abandon(by: str) -> None:
        await release.wait()
        ended.append(by)

    lane = Lane()
    lane.submit(Job("turn", "1", work))
    waiting = Job("turn", "2", work, abandon=abandon)
    assert lane.submit(waiting) == 1
    lane.cancel("somebody", "2")
    assert lane.submit(Job("turn", "3", work)) == 1
    draining = asyncio.create_task(lane.drain("the end"))
    await until_in(lane.drain)
    assert not draining.done()
    assert not lane.is_idle
    release.set()
    async with asyncio.timeout(PATIENCE):
        await draining
    assert ended == ["somebody"]
    assert lane.is_idle
