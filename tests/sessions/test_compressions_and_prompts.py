"""Compressions, turns and cancels beside one another: who waits, who joins, what a cancel leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.errors import (
    Cancelled,
)
from gemini_companion.engine.history.part import visible_text
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import CompressionCancelled, CompressionStarted
from gemini_companion.sessions.compression_state import NO_WISH
from gemini_companion.sessions.events import PromptQueued
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.pages import history_page
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE, until, until_in
from tests.support.sessions import Studio


async def test_a_cancelled_compression_leaves_no_trace_but_its_event(studio: Studio) -> None:
    session = await studio.load(dialogue())
    entries = list(session.history.entries)
    studio.model.gate.clear()
    task = asyncio.create_task(studio.compress())
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    assert session.status(studio.client).state == "running"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await studio.heard.wait_for(CompressionCancelled)
    assert session.history.entries == entries
    assert session.status(studio.client).state == "idle"


async def test_a_cancel_that_comes_after_the_install_returns_the_result(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.load(dialogue())
    task: asyncio.Task[object]
    real = studio.store.append

    async def append_then_cancel(session_id: str, entries: list[object]) -> None:
        await real(session_id, entries)  # pyright: ignore[reportArgumentType]
        task.cancel()
        await asyncio.sleep(0)

    monkeypatch.setattr(studio.store, "append", append_then_cancel)
    task = asyncio.create_task(studio.compress())
    result = await task
    assert result.status == "COMPRESSED"  # pyright: ignore[reportAttributeAccessIssue]
    assert len(session.history.in_force) == 1


@pytest.mark.parametrize("asked", ["compress", "undo", "chat"])
async def test_a_cancel_that_comes_while_what_was_done_is_listed_returns_it_and_the_listing_has_it(
    asked: str, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.load(dialogue())
    if asked == "undo":
        await studio.compress()
    is_listing = asyncio.Event()
    listed: list[SessionMeta] = []

    async def save_slowly(meta: SessionMeta) -> None:
        is_listing.set()
        await asyncio.sleep(0)
        listed.append(meta)

    monkeypatch.setattr(studio.store, "save_meta", save_slowly)
    ways: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "compress": studio.compress,
        "undo": lambda: undo(session, client=studio.client.client_id),
        "chat": lambda: studio.chat("go on"),
    }
    task = asyncio.create_task(ways[asked]())
    async with asyncio.timeout(PATIENCE):
        await is_listing.wait()
        task.cancel()
        assert await task
        while not listed:
            await asyncio.sleep(0)
    assert listed[0].token_count == session.token_count(session.choice()).tokens


async def test_a_second_request_joins_the_first(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.gate.clear()
    tasks = [asyncio.create_task(studio.compress()) for _ in range(2)]
    await until_in(Job.wait, 2)
    studio.model.gate.set()
    first, second = await asyncio.gather(*tasks)
    assert first == second
    assert studio.model.kinds().count("utility_compressor") == 2


async def test_one_of_two_who_wait_may_leave_without_ending_the_compression(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.gate.clear()
    stays, leaves = asyncio.create_task(studio.compress()), asyncio.create_task(studio.compress())
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    await until_in(Job.wait, 2)
    leaves.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaves
    studio.model.gate.set()
    assert (await stays).status == "COMPRESSED"


async def test_a_prompt_waits_for_the_compression_and_says_why(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.gate.clear()
    compressing = asyncio.create_task(studio.compress())
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    chatting = asyncio.create_task(studio.chat("meanwhile"))
    await studio.heard.wait_for(PromptQueued)
    assert studio.heard.of(PromptQueued)[0].because == "compression"
    studio.model.gate.set()
    assert (await compressing).status == "COMPRESSED"
    assert (await chatting).text == "Done. "


async def test_a_compression_waits_for_the_running_turn_and_goes_before_waiting_prompts(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    first = asyncio.create_task(studio.chat("first"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("second"))
    await studio.heard.wait_for(PromptQueued)
    compressing = asyncio.create_task(studio.compress())
    await until_in(Job.wait, 3)
    studio.model.gate.set()
    await asyncio.gather(first, compressing, second)
    assert studio.model.kinds() == ["main", "utility_compressor", "utility_compressor", "main"]
    assert [visible_text(content).split(" ")[0] for content in session.history.contents()[-4:]] == [
        "first",
        "Done.",
        "second",
        "Done.",
    ]


async def test_the_status_names_a_compression_that_waits_for_the_running_turn(studio: Studio) -> None:
    session = await studio.load(dialogue())
    assert session.status(studio.client).compression_id is msgspec.UNSET
    studio.model.gate.clear()
    turn = asyncio.create_task(studio.chat("first"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    compressing = asyncio.create_task(studio.compress())
    await until_in(Job.wait, 2)
    waiting = session.status(studio.client)
    assert waiting.phase == "waiting"
    studio.model.gate.set()
    await asyncio.gather(turn, compressing)
    [started] = studio.heard.of(CompressionStarted)
    assert waiting.compression_id == started.compression_id
    assert session.status(studio.client).compression_id is msgspec.UNSET


async def test_status_history_and_previews_never_wait(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    turn = asyncio.create_task(studio.chat("first"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    assert session.status(studio.client).state == "idle"
    assert (await history_page(session, "model", cursor=None, limit=None)).contents
    preview = asyncio.create_task(studio.compress(preview=True))
    await studio.heard.wait_for(CompressionStarted)
    studio.model.gate.set()
    assert (await preview).status == "PREVIEW"
    await turn


async def test_cancelling_by_its_id_stops_a_compression_for_everybody(studio: Studio) -> None:
    session: Session = await studio.load(dialogue())
    studio.model.gate.clear()
    task = asyncio.create_task(studio.compress())
    await studio.heard.wait_for(CompressionStarted)
    compression_id = studio.heard.of(CompressionStarted)[0].compression_id
    assert (await studio.app.cancel(studio.client, session.session_id, compression_id=compression_id)).cancelled
    with pytest.raises(Cancelled):
        await task


async def test_a_request_after_a_cancel_does_not_join_what_was_cancelled(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    first = asyncio.create_task(studio.compress())
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    under_way = session.compressions.joinable(NO_WISH)
    assert under_way is not None
    assert (await studio.app.cancel(studio.client, None, compression_id=under_way.compression_id)).cancelled
    second = asyncio.create_task(studio.compress())
    await until(lambda: session.compressions.joinable(NO_WISH) not in (None, under_way))
    studio.model.gate.set()
    with pytest.raises(Cancelled):
        await first
    assert (await second).status == "COMPRESSED"
