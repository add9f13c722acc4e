"""Taking a session for writing: what was read of it before is never written on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gemini_companion.adapters.storage.store import SqliteStore
from gemini_companion.engine.errors import CompanionError, SessionBusy, SessionNotFound, StorageFault
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.taken import end_taken
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

Opener = Callable[[], Studio]


async def read_by_one_and_left_by_the_other(opened: Opener) -> tuple[Studio, str]:
    """A process that has read a session, and the session, which its holder has written to since, and left."""
    first, second = opened(), opened()
    session_id = (await first.chat("remember the port 8123")).session_id
    with pytest.raises(SessionBusy):
        await second.app.hold(second.client, session_id)
    await second.app.load(second.client, session_id)
    await first.chat("and the host")
    await first.app.close()
    return second, session_id


def prompts(session: Any) -> int:
    return sum(isinstance(entry, PromptEntry) for entry in session.history.entries)


async def test_a_session_that_could_not_be_read_when_it_was_taken_is_read_again_and_numbers_its_events_on(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    second, session_id = await read_by_one_and_left_by_the_other(opened)
    before = (await second.store.events(session_id, 0)).events[-1].seq

    async def fail(session_id: str) -> Any:
        raise StorageFault("The disk fails.")

    with monkeypatch.context() as ill:
        ill.setattr(second.store, "load_counted", fail)
        with pytest.raises(StorageFault):
            await second.app.hold(second.client, session_id)
    session = await second.app.hold(second.client, session_id)
    assert prompts(session) == 2
    await second.chat("which port?", session_id=session_id)
    assert min(seq for _, seq, _, _ in second.heard.sent) > before


async def test_while_a_session_is_taken_nobody_gets_what_was_read_of_it_before(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    second, session_id = await read_by_one_and_left_by_the_other(opened)
    load, reached, release = second.store.load_counted, asyncio.Event(), asyncio.Event()

    async def wait(session_id: str) -> tuple[SessionMeta, Any, Any]:
        reached.set()
        await release.wait()
        return await load(session_id)

    monkeypatch.setattr(second.store, "load_counted", wait)
    async with asyncio.timeout(PATIENCE):
        taking = asyncio.create_task(second.app.hold(second.client, session_id))
        await reached.wait()
        others = [
            asyncio.create_task(second.app.load(second.client, session_id)),
            asyncio.create_task(second.app.hold(second.client, session_id)),
        ]
        await asyncio.sleep(0)
        release.set()
        session = await taking
        assert prompts(session) == 2
        assert [await other is session for other in others] == [True, True]


async def test_a_recovery_that_failed_is_done_again(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    second, session_id = await read_by_one_and_left_by_the_other(opened)

    async def fail(session_id: str, entries: Any) -> None:
        raise StorageFault("The disk is full.")

    with monkeypatch.context() as ill:
        ill.setattr(second.store, "append", fail)
        with pytest.raises(StorageFault):
            await second.app.hold(second.client, session_id)
    epoch = (await second.app.load(second.client, session_id)).history.epoch
    assert (await second.app.hold(second.client, session_id)).history.epoch > epoch


async def test_what_runs_in_a_session_that_another_process_had_meanwhile_can_be_stopped_and_never_runs_beside_a_second(
    opened: Opener,
) -> None:
    first, second = opened(), opened()
    session_id = (await first.chat("hello")).session_id
    for stops in (True, False):
        first.model.gate.clear()
        first.model.called.clear()
        running = asyncio.create_task(first.chat("long work", session_id=session_id))
        await asyncio.wait_for(first.model.called.wait(), PATIENCE)
        await second.app.open_session(second.client, session_id, take_over=True)
        await second.store.release(session_id)
        assert isinstance(first.store, SqliteStore)
        await first.store.beat()
        if stops:
            assert (await first.app.cancel(first.client, session_id)).cancelled
            first.model.gate.set()
        else:
            first.model.gate.set()
            assert (await first.chat("another", session_id=session_id)).text == "Done. "
        with pytest.raises(CompanionError):
            await asyncio.wait_for(running, PATIENCE)
        assert (await first.app.load(first.client, session_id)).lane.is_idle


async def runs_in_a_chat_that_another_took(opened: Opener) -> tuple[Studio, Studio, str, asyncio.Task[Any]]:
    """Who answers, who took the chat from them meanwhile, the chat, and the prompt that waits for its answer."""
    first, second = opened(), opened()
    session_id = (await first.chat("hello")).session_id
    first.model.gate.clear()
    first.model.called.clear()
    running = asyncio.create_task(first.chat("long work", session_id=session_id))
    await asyncio.wait_for(first.model.called.wait(), PATIENCE)
    await second.app.open_session(second.client, session_id, take_over=True)
    assert isinstance(first.store, SqliteStore)
    await first.store.beat()
    return first, second, session_id, running


async def test_what_runs_in_a_chat_that_another_process_took_ends_at_once_and_not_with_its_next_write(
    opened: Opener,
) -> None:
    first, second, session_id, running = await runs_in_a_chat_that_another_took(opened)
    end_taken(first.app, session_id)
    with pytest.raises(CompanionError):
        await asyncio.wait_for(running, PATIENCE)  # the model has not answered
    assert (await second.chat("mine", session_id=session_id)).text == "Done. "
    first.model.gate.set()


async def test_a_chat_that_was_taken_and_taken_back_meanwhile_goes_on(opened: Opener) -> None:
    first, second, session_id, running = await runs_in_a_chat_that_another_took(opened)
    await second.app.close()
    first.model.gate.set()
    with pytest.raises(CompanionError):
        await asyncio.wait_for(running, PATIENCE)
    first.model.gate.clear()
    first.model.called.clear()
    again = asyncio.create_task(first.chat("on", session_id=session_id))
    await asyncio.wait_for(first.model.called.wait(), PATIENCE)
    end_taken(first.app, session_id)  # the notice of the heartbeat, which comes late
    first.model.gate.set()
    assert (await asyncio.wait_for(again, PATIENCE)).text == "Done. "


async def test_a_notice_reaches_whoever_has_the_chat_open_and_of_one_that_is_not_here_nobody(opened: Opener) -> None:
    studio = opened()
    session_id = (await studio.chat("hello")).session_id
    end_taken(studio.app, "another")
    assert studio.heard.lost == []
    end_taken(studio.app, session_id)
    assert studio.heard.lost == [session_id]
    assert (await studio.chat("on", session_id=session_id)).text == "Done. ", "it is held here again"


async def test_a_chat_that_another_process_took_a_moment_ago_is_shown_with_what_that_one_wrote(opened: Opener) -> None:
    first, second = opened(), opened()
    session_id = (await first.chat("hello")).session_id
    await second.app.open_session(second.client, session_id, take_over=True)
    await second.chat("mine", session_id=session_id)
    assert first.store.holds(session_id), "no heartbeat has told it yet"
    assert prompts(await first.app.load(first.client, session_id)) == 2
    assert not first.store.holds(session_id)


async def test_a_chat_that_another_process_deleted_a_moment_ago_is_not_shown(opened: Opener) -> None:
    first, second = opened(), opened()
    session_id = (await first.chat("hello")).session_id
    await second.app.open_session(second.client, session_id, take_over=True)
    await second.app.delete(session_id)
    with pytest.raises(SessionNotFound):
        await first.app.load(first.client, session_id)


async def test_a_chat_is_shown_from_memory_while_the_store_cannot_be_read(opened: Opener) -> None:
    studio = opened()
    session = await studio.app.load(studio.client, (await studio.chat("hello")).session_id)
    assert isinstance(studio.store, SqliteStore)
    await studio.store.worker.close(lambda connection: None)
    assert await studio.app.load(studio.client, session.session_id) is session
