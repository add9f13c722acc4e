"""What sessions take on disk, and that none is deleted for room that somebody uses or keeps."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.store import GRACE_MS, THIRTY_DAYS_MS
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.log import encode_entry
from tests.adapters.storage.stores import DAY_MS, MakeStore, ManualClock, meta, prompt, use
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio


async def names(store: SqliteStore) -> set[str]:
    return {one.session_id for one in (await store.list()).sessions}


def count_jobs(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of the jobs that the store's thread gets from here on."""
    kinds: list[str] = []
    run = store.worker.run

    def counted(kind: Any, work: Any) -> Any:
        kinds.append(kind)
        return run(kind, work)

    monkeypatch.setattr(store.worker, "run", counted)
    return kinds


async def test_a_session_takes_its_log_and_its_private_files(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        entries = [prompt(1, "hello"), prompt(2, "ünïcode")]
        await store.create(meta("a"), entries)
        await store.create(meta("empty"))
        await store.save_text("a", "out.txt", "x" * 1000)
        found = {one.session_id: one for one in await store.stored()}
        assert found["a"].size == sum(len(encode_entry(entry)) for entry in entries) + 1000
        assert (found["empty"].size, found["empty"].is_open, found["empty"].is_kept) == (0, True, False)


async def test_of_many_long_sessions_the_sizes_are_those_of_all_their_entries(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        logs = {f"s{number}": [prompt(seq, "x" * number) for seq in range(1, 1_502)] for number in range(4)}
        for name, entries in logs.items():
            await store.create(meta(name), entries)
        sizes = {name: sum(len(encode_entry(entry)) for entry in entries) for name, entries in logs.items()}
        jobs = count_jobs(store, monkeypatch)
        assert {one.session_id: one.size for one in await store.stored()} == sizes
        assert jobs.count("read") > 1, "nothing that is to be written waits for all of them"
        more = prompt(1_502, "more")
        await store.append("s2", [more])
        assert {one.session_id: one.size for one in await store.stored({"s2"})} == {
            **dict.fromkeys(sizes, 0),
            "s2": sizes["s2"] + len(encode_entry(more)),
        }


class SlowDisk:
    """Walks over folders wait for `answers`; counts how many do at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers, self.asked = threading.Event(), threading.Event()
        self.now = self.most = self.walks = 0
        real = os.walk

        def walk(top: Any) -> Any:
            self.now += 1
            self.walks += 1
            self.most = max(self.most, self.now)
            self.asked.set()
            self.answers.wait(PATIENCE)
            self.now -= 1
            return real(top)

        monkeypatch.setattr(os, "walk", walk)


async def test_nothing_waits_for_a_disk_that_tells_sizes_slowly_but_who_asked(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("a"), [prompt(1)])
        await store.save_text("a", "out.txt", "x" * 1000)
        disk = SlowDisk(monkeypatch)
        asked = [asyncio.create_task(store.stored()) for _ in range(3)]
        await asyncio.to_thread(disk.asked.wait, PATIENCE)
        await store.append("a", [prompt(2)])
        assert [one.session_id for one in (await store.list()).sessions] == ["a"]
        assert not any(task.done() for task in asked)
        disk.answers.set()
        assert {found[0].size > 1000 for found in await asyncio.gather(*asked)} == {True}
        assert disk.most == 1


async def test_a_store_that_closes_does_not_wait_for_sizes_of_files(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        for name in ("a", "b"):
            await store.create(meta(name), [prompt(1)])
            await store.save_text(name, "out.txt", "x" * 1000)
        disk = SlowDisk(monkeypatch)
        asked = [asyncio.create_task(store.stored()) for _ in range(2)]
        await asyncio.to_thread(disk.asked.wait, PATIENCE)
        try:
            await store.close()
            for task in asked:
                with pytest.raises(StorageFault, match="closed"):
                    await task
        finally:
            disk.answers.set()
        await asyncio.get_running_loop().shutdown_default_executor()
        assert disk.walks == 1, "the walk ends where it is told to"


async def test_only_those_that_are_named_are_looked_at_where_no_other_matters(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        for name in ("a", "b", "c"):
            await store.create(meta(name), [prompt(1)])
        await store.release("b")
        found = await store.stored({"a", "b", "gone"}, alone=True)
        assert {one.session_id: one.is_open for one in found} == {"a": True, "b": False}
        assert all(one.size for one in found)


async def test_a_list_of_fifty_asks_the_thread_of_the_store_no_more_often_than_a_list_of_two(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = Studio(tmp_path, store=store)
    async with asyncio.timeout(PATIENCE):
        for number in range(50):
            await store.create(meta(f"s{number}"), [prompt(1)])
        jobs = count_jobs(store, monkeypatch)
        await studio.app.list_sessions(limit=50)  # the first one measures
        first = len(jobs)
        await studio.app.list_sessions(limit=50)
        fifty = len(jobs) - first
        await studio.app.list_sessions(limit=2)
        assert first == fifty == len(jobs) - first - fifty == 2, "the page with its holders; the sizes"


async def test_those_that_may_go_go_with_their_files_and_no_other(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        mine, other = make_store(), make_store()
        for name in ("gone", "held here", "held there", "kept", "written since"):
            await mine.create(meta(name, is_kept=name == "kept"), [prompt(1)])
        files = Path(await mine.save_text("gone", "a.txt", "x")).parent
        for name in ("gone", "held there", "kept", "written since"):
            await mine.release(name)
        await other.hold("held there")
        found = await mine.stored()
        assert {one.session_id for one in found if one.is_open} == {"held here", "held there"}
        await use(other, meta("written since", updated_at=meta().updated_at + 1))
        assert await mine.remove_unused(found) == 1
        assert await names(mine) == {"held here", "held there", "kept", "written since"}
        assert not files.exists()
        assert await mine.remove_unused(found) == 0, "what is gone is no fault"


async def test_a_session_that_is_kept_outlives_every_age(store: SqliteStore, clock: ManualClock) -> None:
    async with asyncio.timeout(PATIENCE):
        for name in ("kept", "old", "new"):
            await store.create(meta(name, is_kept=name == "kept"))
            await store.release(name)
        for _ in range((THIRTY_DAYS_MS + GRACE_MS) // DAY_MS + 2):
            clock.time += DAY_MS
            await use(store, meta("new", updated_at=clock.time))
            await store.sweep()
        assert await names(store) == {"kept", "new"}


async def test_what_a_fork_has_of_a_deleted_chat_is_measured_in_steps_and_once(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        entries = [prompt(seq, "x") for seq in range(1, 5_002)]
        await store.create(meta("parent"), entries)
        await store.create(meta("fork", parent="parent"), [prompt(5_002)], ((1, 5_001),))
        await store.delete("parent")
        size = sum(len(encode_entry(entry)) for entry in (*entries, prompt(5_002)))
        jobs = count_jobs(store, monkeypatch)
        assert [one.size for one in await store.stored()] == [size]
        steps = jobs.count("read")
        assert steps > 1, "nothing that is to be written waits for all of them"
        assert [one.size for one in await store.stored()] == [size]
        assert jobs.count("read") == steps + 1, "those rows are not written any more"
