"""Cancels at awkward moments: before a job's first step, while something is being written, in the middle of an
automatic compression.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    Entry,
    PromptEntry,
    ReplyEntry,
    UndoEntry,
)
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import (
    CompressionCancelled,
    CompressionCompleted,
    CompressionProgress,
    CompressionStarted,
)
from gemini_companion.sessions.events import TurnCancelled, TurnCompleted, TurnFailed
from gemini_companion.sessions.lane import Job, Lane
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.transcript.pages import history_page
from tests.support.patience import PATIENCE, until_in
from tests.support.preparing_desk import hold_before_safe_point, within
from tests.support.sessions import Studio


def dialogue(rounds: int = 8, words: int = 200) -> list[Content]:
    contents: list[Content] = []
    for number in range(rounds):
        contents += [
            user_text(f"question {number} " + "word " * words),
            model_text(f"answer {number} " + "text " * words),
        ]
    return contents


async def summarising(studio: Studio) -> str:
    """Wait for the summariser; the id of the compression that runs."""
    async with asyncio.timeout(PATIENCE):
        while not any(event.phase == "summarising" for event in studio.heard.of(CompressionProgress)):
            await asyncio.sleep(0)
    return studio.heard.of(CompressionStarted)[-1].compression_id


class HeldStore:
    """Holds the first write that has an entry of one kind until it is released."""

    def __init__(self, studio: Studio, monkeypatch: pytest.MonkeyPatch, kind: type[Entry]) -> None:
        self.reached, self.release = asyncio.Event(), asyncio.Event()
        real = studio.store.append

        async def append(session_id: str, entries: Sequence[Entry]) -> None:
            if any(isinstance(entry, kind) for entry in entries) and not self.reached.is_set():
                self.reached.set()
                await self.release.wait()
            await real(session_id, entries)

        monkeypatch.setattr(studio.store, "append", append)


@pytest.mark.parametrize(
    "stop", [lambda lane: lane.cancel("somebody"), lambda lane: lane.drain("somebody")], ids=["cancel", "drain"]
)
async def test_a_job_that_is_cancelled_before_its_first_step_ends_and_lets_the_next_one_run(
    stop: Callable[[Lane], object],
) -> None:
    abandoned: list[str] = []

    async def work(_: Job[str]) -> str:
        return "done"

    async def abandon(by: str) -> None:
        abandoned.append(by)

    lane = Lane()
    first, second = Job("turn", "1", work, abandon=abandon), Job("turn", "2", work)
    lane.submit(first)
    stopped = stop(lane)  # in the same step of the event loop
    if asyncio.iscoroutine(stopped):
        async with asyncio.timeout(PATIENCE):
            await stopped
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Cancelled):
            await first.wait()
        lane.submit(second)
        assert await second.wait() == "done"
    assert abandoned == ["somebody"]
    assert lane.is_idle


async def test_a_prompt_and_a_cancel_in_one_message_leave_the_prompt_in_the_transcript_and_the_session_usable(
    studio: Studio,
) -> None:
    session = await studio.session()
    chatting = asyncio.create_task(studio.chat("never mind"))
    cancelling = asyncio.create_task(studio.app.cancel(studio.client, None))
    async with asyncio.timeout(PATIENCE):
        assert (await cancelling).cancelled
        with pytest.raises(Cancelled):
            await chatting
    transcript = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    assert [(item.parts, item.outcome) for item in transcript] == [(({"text": "never mind"},), "cancelled")]
    assert (await studio.chat("still there?")).text == "Done. "


async def test_a_prompt_that_is_cancelled_while_it_is_written_stands_once_in_the_transcript(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.session()
    held = HeldStore(studio, monkeypatch, PromptEntry)
    chatting = asyncio.create_task(studio.chat("once"))
    async with asyncio.timeout(PATIENCE):
        await held.reached.wait()
        await studio.app.cancel(studio.client, None)
        held.release.set()
        with pytest.raises(Cancelled):
            await chatting
    transcript = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    assert [(item.parts, item.outcome) for item in transcript] == [(({"text": "once"},), "cancelled")]
    assert session.history.contents() == []


async def test_cancelling_the_automatic_compression_alone_lets_the_turn_go_on_without_it(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    studio.model.gate.clear()
    chatting = asyncio.create_task(studio.chat("go on"))
    compression_id = await summarising(studio)
    assert (await studio.app.cancel(studio.client, None, compression_id=compression_id)).cancelled
    await studio.heard.wait_for(CompressionCancelled)
    studio.model.gate.set()
    result = await chatting
    assert result.text == "Done. "
    assert result.compression is None
    assert not session.history.compressions
    assert not studio.heard.of(TurnFailed)
    await studio.chat("and on")
    assert len(studio.heard.of(CompressionStarted)) == 1, "it waits until the count has grown"


async def test_cancelling_the_turn_takes_its_automatic_compression_along(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    studio.model.gate.clear()
    chatting = asyncio.create_task(studio.chat("go on"))
    await summarising(studio)
    assert (await studio.app.cancel(studio.client, None)).cancelled
    with pytest.raises(Cancelled):
        await chatting
    assert len(studio.heard.of(CompressionCancelled)) == len(studio.heard.of(TurnCancelled)) == 1
    assert not session.history.compressions
    assert session.status(studio.client).state == "idle"


async def test_a_turn_that_is_cancelled_while_its_compression_is_installed_stops_after_the_install(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    held = HeldStore(studio, monkeypatch, CompressionEntry)
    chatting = asyncio.create_task(studio.chat("go on"))
    async with asyncio.timeout(PATIENCE):
        await held.reached.wait()
        await studio.app.cancel(studio.client, None)
        held.release.set()
        with pytest.raises(Cancelled):
            await chatting
    assert len(session.history.in_force) == 1
    assert len(studio.heard.of(CompressionCompleted)) == 1
    assert not studio.heard.of(TurnCompleted)
    assert "main" not in studio.model.kinds()


async def compress_and_undo(studio: Studio) -> CompressionResult:
    await studio.compress()
    return await undo(await studio.session(), client="")


@pytest.mark.parametrize(
    ("act", "kind", "said"),
    [
        (lambda studio: studio.compress(), CompressionEntry, "COMPRESSED"),
        (compress_and_undo, UndoEntry, "UNDONE"),
        (lambda studio: studio.chat("go on"), ReplyEntry, "STOP"),
    ],
    ids=["compress", "undo", "answer"],
)
@pytest.mark.parametrize("is_named", [False, True])
async def test_a_cancel_of_what_is_being_written_says_that_it_comes_too_late(
    studio: Studio,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Studio], Coroutine[Any, Any, CompressionResult | ChatResult]],
    kind: type[Entry],
    said: str,
    is_named: bool,
) -> None:
    session = await studio.load(dialogue())
    held = HeldStore(studio, monkeypatch, kind)
    acting = asyncio.create_task(act(studio))
    async with asyncio.timeout(PATIENCE):
        await held.reached.wait()
        assert session.lane.current is not None
        job_id = session.lane.current.job_id if is_named else None
        cancelled = await studio.app.cancel(studio.client, None, compression_id=job_id)
        held.release.set()
        result = await acting
    assert (result.finish_reason if isinstance(result, ChatResult) else result.status) == said
    assert not cancelled.cancelled


async def test_cancelling_a_turn_leaves_the_compression_that_somebody_else_asked_for(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    other, _ = studio.connect("other")
    reached, release = hold_before_safe_point(studio, monkeypatch)
    chatting = asyncio.create_task(studio.chat("go on with @a.py", model="gemini-2.5-flash"))
    await within(reached)
    compressing = asyncio.create_task(studio.app.compress(other, session.session_id))
    await until_in(Job.wait, 2)
    release.set()
    await summarising(studio)
    assert (await studio.app.cancel(studio.client, None, turn_id=next(iter(studio.heard.sent))[2])).cancelled
    with pytest.raises(Cancelled):
        await chatting
    studio.model.gate.set()
    async with asyncio.timeout(PATIENCE):
        assert (await compressing).status == "COMPRESSED"


async def test_deleting_a_session_ends_the_preview_that_was_just_asked_for(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    preview = asyncio.create_task(studio.compress(preview=True))
    deleting = asyncio.create_task(studio.app.delete(session.session_id))
    async with asyncio.timeout(PATIENCE):
        await deleting
        with pytest.raises(Cancelled):
            await preview
    assert studio.model.kinds() == []
