"""Events are kept for who missed them, under numbers that never come back."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from gemini_companion.adapters.storage import SqliteStore, event_log, kept_events
from gemini_companion.sessions.ports import StoredEvents
from tests.adapters.storage.stores import MakeStore, event, execute, meta
from tests.support.patience import PATIENCE


async def test_events_come_back_equal_and_in_order(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        kept = [event(1), event(2, mystery=[1, {"a": None}]), event(5)]
        store.save_events(kept[:2])
        store.save_events(kept[2:])
        assert await store.events("s1", 0) == StoredEvents(events=tuple(kept), truncated=False)
        assert (await store.events("s1", 2)).events == (event(5),)
        assert (await store.events("s1", 2**80)).events == ()


async def test_an_answer_that_was_cut_says_so(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        store.save_events([event(number) for number in range(1, 6)])
        answer = await store.events("s1", 1, limit=3)
        assert ([kept.seq for kept in answer.events], answer.truncated) == ([2, 3, 4], True)


async def test_numbers_never_come_back_not_even_after_a_restart(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        first = make_store()
        await first.create(meta())
        assert await first.reserve_event_seqs("s1", 10) == 1
        assert await first.reserve_event_seqs("s1", 1) == 11
        await first.close()
        assert await make_store().reserve_event_seqs("s1", 5) == 12


async def test_the_oldest_events_go_and_whoever_asks_for_them_is_told(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "KEPT_EVENTS", 20)
    monkeypatch.setattr(event_log, "PRUNE_EVERY", 5)
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        assert await store.reserve_event_seqs("s1", 100) == 1
        for number in range(1, 101):
            store.save_events([event(number)])
        kept = await store.events("s1", 0)
        assert kept.truncated
        assert 20 <= len(kept.events) <= 25
        assert [each.seq for each in kept.events] == list(range(101 - len(kept.events), 101)), (
            "the newest, without a gap"
        )
        oldest = kept.events[0].seq
        assert not (await store.events("s1", oldest - 1)).truncated
        assert (await store.events("s1", oldest - 2)).truncated
        assert await store.reserve_event_seqs("s1", 1) == 101


async def test_events_of_a_session_that_is_gone_are_dropped(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        store.save_events([event(1), event(1, "gone")])
        assert len((await store.events("s1", 0)).events) == 1
        assert await execute(store, "SELECT DISTINCT session_id FROM events") == [("s1",)]


async def test_a_damaged_event_is_left_out_and_the_answer_says_so(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        store.save_events([event(1), event(2)])
        await execute(store, "UPDATE events SET json = ? WHERE seq = 1", b"\xff{")
        assert await store.events("s1", 0) == StoredEvents(events=(event(2),), truncated=True)


async def test_what_follows_many_events_that_cannot_be_read_is_found_and_the_log_has_one_line_of_them(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        store.save_events([event(number) for number in range(1, 12)])
        await execute(store, "UPDATE events SET json = 'x' WHERE seq < 10")
        answer = await store.events("s1", 0, limit=2)
        assert ([kept.seq for kept in answer.events], answer.truncated) == ([10], True)
        assert (await store.events("s1", 10)).events == (event(11),)
    assert [record.getMessage() for record in caplog.records if "cannot be read" in record.getMessage()] == [
        "9 events of session s1, the first of them number 1, cannot be read and are left out: "
        "JSON is malformed: invalid character (byte 0)"
    ]


async def test_a_failure_to_keep_events_is_logged_and_harms_nothing_else(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        with caplog.at_level(logging.WARNING):
            store.save_events([event(1, text="\ud800")])
            store.save_events([event(2)])
            assert await store.events("s1", 0) == StoredEvents(events=(event(2),), truncated=True)
            assert not (await store.events("s1", 1)).truncated
        assert "in the background" in caplog.text


async def test_saves_that_pile_up_are_dropped_at_a_bound(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kept_events, "MAX_WAITING_SAVES", 3)
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        with caplog.at_level(logging.WARNING):
            started = asyncio.Event()
            loop = asyncio.get_running_loop()
            go_on = threading.Event()

            def block(_connection: object) -> None:
                loop.call_soon_threadsafe(started.set)
                go_on.wait(PATIENCE)

            blocking = store.worker.run("read", block)
            await started.wait()
            for number in range(1, 6):
                store.save_events([event(number)])
            go_on.set()
            await blocking
        kept = await store.events("s1", 0)
        assert ([each.seq for each in kept.events], kept.truncated) == ([1, 2, 3], True)
        assert "not kept for replay" in caplog.text
        store.save_events([event(9)])
        assert [kept.seq for kept in (await store.events("s1", 3)).events] == [9]
