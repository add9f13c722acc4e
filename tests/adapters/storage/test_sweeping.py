"""Old sessions go after their retention, and no clock that is wrong takes a session with it."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.store import GRACE_MS, THIRTY_DAYS_MS
from tests.adapters.storage.stores import DAY_MS, START, MakeStore, ManualClock, meta, prompt, use
from tests.support.patience import PATIENCE


async def listed(store: SqliteStore) -> set[str]:
    return {found.session_id for found in (await store.list()).sessions}


@pytest.fixture
async def store(make_store: MakeStore) -> SqliteStore:
    """A store with a session that nobody holds, written now."""
    store = make_store()
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("old"), [prompt(1)])
        await store.release("old")
    return store


async def live(store: SqliteStore, clock: ManualClock, days: int) -> None:
    """Days of ordinary use: a start, a sweep and a prompt on each."""
    for _ in range(days):
        clock.time += DAY_MS
        await use(store, meta("new", updated_at=clock.time))
        await store.sweep()


async def test_in_ordinary_use_an_old_session_goes_a_week_after_its_retention(
    store: SqliteStore, clock: ManualClock
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("new"))
        await store.release("new")
        await live(store, clock, 37)
        assert await listed(store) == {"old", "new"}
        await live(store, clock, 1)
        assert await listed(store) == {"new"}


@pytest.mark.parametrize("jump", [31 * DAY_MS, 400 * DAY_MS])
async def test_a_clock_that_is_ahead_at_the_start_takes_nothing_and_leaves_nothing_when_it_is_right_again(
    make_store: MakeStore, store: SqliteStore, clock: ManualClock, jump: int
) -> None:
    async with asyncio.timeout(PATIENCE):
        clock.jump(jump)
        for _ in range(3):
            assert await store.sweep() == 0
        assert await make_store().sweep() == 0, "nor does another process"
        clock.jump(-jump)
        assert await store.sweep() == 0
        clock.time += GRACE_MS + DAY_MS
        assert await store.sweep() == 0
        assert await listed(store) == {"old"}


async def test_a_clock_that_jumps_twice_takes_nothing(store: SqliteStore, clock: ManualClock) -> None:
    async with asyncio.timeout(PATIENCE):
        for _ in range(3):
            clock.jump(THIRTY_DAYS_MS + DAY_MS)
            assert await store.sweep() == 0
        assert await listed(store) == {"old"}


async def test_a_clock_that_is_set_back_takes_nothing(store: SqliteStore, clock: ManualClock) -> None:
    async with asyncio.timeout(PATIENCE):
        clock.time += THIRTY_DAYS_MS + DAY_MS
        await store.sweep()
        clock.jump(-5 * DAY_MS)
        assert await store.sweep() == 0
        assert await listed(store) == {"old"}


async def test_whoever_comes_back_after_months_finds_everything_and_has_a_week_to_use_it(
    store: SqliteStore, clock: ManualClock
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("kept", updated_at=START), [prompt(1)])
        await store.release("kept")
        clock.time += 100 * DAY_MS
        assert await store.sweep() == 0
        assert await listed(store) == {"old", "kept"}
        await use(store, meta("kept", updated_at=clock.time))
        clock.time += GRACE_MS
        assert await store.sweep() == 1
        assert await listed(store) == {"kept"}


async def test_a_fork_has_the_whole_of_its_log_when_retention_has_taken_its_parent_and_its_grandparent(
    store: SqliteStore, clock: ManualClock
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("child", parent="old"), [prompt(2, "of the child")], ((1, 1),))
        await store.release("child")
        await store.create(meta("new", parent="child"), [prompt(3, "its own")], ((1, 2),))
        await store.release("new")
        before = (await store.load_counted("new"))[1]
        await live(store, clock, 38)
        assert await listed(store) == {"new"}
        assert list((await store.load_counted("new"))[1]) == list(before)
        assert [entry.seq for entry in before] == [1, 2, 3]
