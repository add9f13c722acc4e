"""A session is written by one process at a time, and everyone knows by which."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gemini_companion.adapters.storage import SqliteStore, open_store
from gemini_companion.adapters.storage.leases import STALE_SECONDS
from gemini_companion.adapters.storage.process import ProcessIdentity, SystemProcesses
from gemini_companion.engine.errors import SessionBusy
from tests.adapters.storage.stores import (
    DAY_MS,
    START,
    FakeProcesses,
    MakeStore,
    ManualClock,
    execute,
    meta,
    prompt,
    seqs,
)
from tests.support.patience import PATIENCE

HOLDER, OTHER = 100, 200


class Pair:
    """Two stores on one file, as two processes of which each knows what the test says of the other."""

    def __init__(self, make_store: MakeStore) -> None:
        self.alive: dict[int, bool | None] = {HOLDER: True, OTHER: True}
        self.taken: list[str] = []
        """What the first was told of."""
        self.first = make_store(processes=FakeProcesses(HOLDER, self.alive), on_taken=self.taken.append)
        self.second = make_store(processes=FakeProcesses(OTHER, self.alive))


@pytest.fixture
async def pair(make_store: MakeStore) -> Pair:
    pair = Pair(make_store)
    async with asyncio.timeout(PATIENCE):
        await pair.first.create(meta(), [prompt(1)])
    return pair


async def test_what_is_given_back_at_the_end_was_taken_by_nobody(make_store: MakeStore) -> None:
    taken: list[str] = []
    store = make_store(heartbeat_seconds=0.0, on_taken=taken.append)  # behind whatever is done, the last thing too
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1)])
        await store.close()
    assert taken == []


async def test_whoever_makes_a_session_holds_it(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        assert pair.first.holds("s1")
        assert not pair.second.holds("s1")
        await pair.first.append("s1", [prompt(2)])


async def test_the_second_is_told_who_holds_it_and_what_to_do(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        for call in (
            pair.second.hold("s1"),
            pair.second.append("s1", [prompt(2)]),
            pair.second.delete("s1"),
            pair.second.save_meta(meta(title="x")),
        ):
            with pytest.raises(SessionBusy, match=f"pid {HOLDER}") as caught:
                await call
            assert "Fork the session, or take it over" in caught.value.hint
        assert await seqs(pair.second) == [1], "reading is free"
        assert (await pair.first.meta("s1")).title == ""


async def test_what_another_one_wrote_of_a_session_and_left_is_not_written_over(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.second.hold("s1", take_over=True)
        await pair.second.save_meta(meta(title="theirs"))
        await pair.second.release("s1")
        with pytest.raises(SessionBusy, match="does not hold"):
            await pair.first.save_meta(meta(title="mine"))
        await pair.first.hold("s1")
        await pair.first.save_meta(meta(title="again mine"))


async def test_only_another_living_holder_is_shown(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        assert (await pair.first.meta("s1")).held_by is None
        assert (await pair.second.meta("s1")).held_by == HOLDER
        assert [listed.held_by for listed in (await pair.second.list()).sessions] == [HOLDER]
        assert (await pair.second.load("s1"))[0].held_by == HOLDER
        pair.alive[HOLDER] = False
        assert (await pair.second.meta("s1")).held_by is None


async def test_two_stores_of_one_process_are_as_strangers(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        first, second = make_store(), make_store()
        await first.create(meta())
        with pytest.raises(SessionBusy):
            await second.hold("s1")


async def test_a_session_that_was_given_back_is_free(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.first.release("s1")
        assert not pair.first.holds("s1")
        await pair.second.hold("s1")
        await pair.second.append("s1", [prompt(2)])


async def test_closing_gives_every_session_back(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.first.create(meta("s2"))
        await pair.first.close()
        await pair.second.hold("s1")
        await pair.second.hold("s2")


async def test_who_loses_a_session_cannot_write_it_any_more_and_finds_out(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.second.hold("s1", take_over=True)
        await pair.second.append("s1", [prompt(2)])
        assert pair.first.holds("s1"), "it does not know yet"
        with pytest.raises(SessionBusy, match=f"pid {OTHER}"):
            await pair.first.append("s1", [prompt(2)])
        assert not pair.first.holds("s1")
        assert await seqs(pair.first) == [1, 2]


async def test_a_heartbeat_shows_which_sessions_were_lost(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.first.create(meta("s2"))
        await pair.second.hold("s1", take_over=True)
        await pair.first.beat()
        assert (pair.first.holds("s1"), pair.first.holds("s2")) == (False, True)


async def test_a_session_that_was_taken_is_told_of_once_by_a_heartbeat_or_a_write(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.first.create(meta("s2"))
        await pair.second.hold("s1", take_over=True)
        await pair.second.hold("s2", take_over=True)
        assert pair.taken == []
        with pytest.raises(SessionBusy):
            await pair.first.append("s1", [prompt(2)])
        assert pair.taken == ["s1"]
        for _ in range(2):
            await pair.first.beat()
        assert pair.taken == ["s1", "s2"]


async def test_nothing_is_told_of_sessions_that_are_given_back_or_deleted(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.first.create(meta("s2"))
        leaving = asyncio.gather(pair.first.release("s1"), pair.first.delete("s2"))
        await pair.first.beat()
        await leaving
        await pair.first.beat()
        assert pair.taken == []


async def test_what_was_taken_over_and_given_back_is_not_written_by_the_first_holder(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        await pair.second.hold("s1", take_over=True)
        await pair.second.release("s1")
        with pytest.raises(SessionBusy, match="not hold"):
            await pair.first.append("s1", [prompt(2)])
        await pair.first.hold("s1")
        await pair.first.append("s1", [prompt(2)])


@pytest.mark.parametrize("jump", [-90 * DAY_MS, -STALE_SECONDS * 2_000, STALE_SECONDS * 2_000, 90 * DAY_MS])
async def test_a_clock_that_jumps_steals_no_lease(pair: Pair, clock: ManualClock, jump: float) -> None:
    async with asyncio.timeout(PATIENCE):
        pair.alive[HOLDER] = None
        clock.jump(round(jump))
        for _ in range(3):
            with pytest.raises(SessionBusy):
                await pair.second.hold("s1")
            await clock.sleep(STALE_SECONDS - 1)
            await pair.first.beat()
        await pair.first.append("s1", [prompt(2)])
        assert pair.first.holds("s1")


@pytest.mark.parametrize(
    ("alive", "watched", "is_free"),
    [
        (True, 0, False),
        (True, STALE_SECONDS * 100, False),  # a machine that slept
        (False, 0, True),
        (None, 0, False),
        (None, STALE_SECONDS, False),
        (None, STALE_SECONDS + 1, True),
    ],
)
async def test_a_lease_is_stale_when_its_holder_is_dead_or_watched_in_silence_and_not_provably_alive(
    pair: Pair, clock: ManualClock, alive: bool | None, watched: float, is_free: bool
) -> None:
    async with asyncio.timeout(PATIENCE):
        pair.alive[HOLDER] = alive
        await pair.second.list()
        await clock.sleep(watched)
        if is_free:
            await pair.second.hold("s1")
            await pair.second.append("s1", [prompt(2)])
        else:
            with pytest.raises(SessionBusy):
                await pair.second.hold("s1")


async def test_a_heartbeat_keeps_a_lease_alive(pair: Pair, clock: ManualClock) -> None:
    async with asyncio.timeout(PATIENCE):
        pair.alive[HOLDER] = None
        await clock.sleep(STALE_SECONDS)
        await pair.first.beat()
        await clock.sleep(STALE_SECONDS)
        with pytest.raises(SessionBusy):
            await pair.second.hold("s1")


async def test_heartbeats_come_by_themselves_while_a_session_is_held(tmp_path: Path) -> None:
    later = START + 77

    class CountingClock(ManualClock):
        """Tells when the second heartbeat of the later time begins: the first one is in the database by then."""

        def __init__(self) -> None:
            super().__init__()
            self.beats = 0
            self.has_beaten = threading.Event()

        def now(self) -> int:
            if self.time == later and threading.current_thread() is not threading.main_thread():
                self.beats += 1
                if self.beats > 1:
                    self.has_beaten.set()
            return self.time

    clock = CountingClock()
    store = open_store(tmp_path, "default", clock=clock, processes=FakeProcesses(), heartbeat_seconds=0.001)
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        clock.time = later
        assert await asyncio.to_thread(clock.has_beaten.wait, PATIENCE)
        assert await execute(store, "SELECT heartbeat FROM leases") == [(later,)]
        await store.close()


async def test_keeping_a_session_that_is_held_already_is_fine(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        await store.hold("s1")
        await store.append("s1", [prompt(1)])


# --- processes


def test_this_process_is_alive() -> None:
    processes = SystemProcesses()
    assert processes.me().pid == os.getpid()
    assert processes.is_alive(processes.me()) is True


@pytest.mark.process
def test_a_process_that_ended_is_dead() -> None:
    processes = SystemProcesses()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = processes.me().started.split(" ")[0]
        assert processes.is_alive(ProcessIdentity(processes.me().machine, child.pid, f"{started} 1")) is False, (
            "started at another time"
        )
        child.kill()
        child.wait(PATIENCE)
        assert processes.is_alive(ProcessIdentity(processes.me().machine, child.pid, "whenever")) is False


def test_a_number_that_was_given_out_again_is_no_proof_of_life() -> None:
    me = SystemProcesses().me()
    assert SystemProcesses().is_alive(ProcessIdentity(me.machine, me.pid, "another start")) is False


def test_nothing_is_certain_of_a_process_elsewhere_or_of_unknown_start() -> None:
    me = SystemProcesses().me()
    assert SystemProcesses().is_alive(ProcessIdentity("another machine", me.pid, me.started)) is None
    assert SystemProcesses().is_alive(ProcessIdentity(me.machine, me.pid, "")) is None


async def test_who_takes_the_session_of_a_dead_process_is_told_when_that_was_last_alive(pair: Pair) -> None:
    async with asyncio.timeout(PATIENCE):
        last = (await execute(pair.first, "SELECT heartbeat FROM leases"))[0][0]
        pair.alive[HOLDER] = False
        assert await pair.second.hold("s1") == last
        assert await pair.second.hold("s1") == 0, "it is its own"
        await pair.second.release("s1")
        assert await pair.first.hold("s1") == 0, "it was given back"


async def test_of_the_many_sessions_that_this_process_holds_a_listing_reads_those_that_it_shows(
    store: SqliteStore,
) -> None:
    read: list[bytes] = []

    def counted(data: bytes) -> str:
        read.append(data)
        return data.decode()

    def count(connection: sqlite3.Connection) -> None:
        connection.text_factory = counted

    async def texts() -> int:
        read.clear()
        assert len((await store.list(limit=2)).sessions) == 2
        assert [one.is_open for one in await store.stored({"s1", "s2"}, alone=True)] == [True, True]
        return len(read)

    async with asyncio.timeout(PATIENCE):
        for number in range(1, 4):
            await store.create(meta(f"s{number}"), [prompt(1)])
        await store.worker.run("read", count)
        before = await texts()
        for number in range(4, 40):
            await store.create(meta(f"s{number}"), [prompt(1)])
        assert await texts() == before
