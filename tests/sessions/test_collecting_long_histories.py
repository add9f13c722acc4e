"""The collector of cycles leaves long histories out, and finds them once they are gone."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.sessions.collector import MUCH, Collector
from gemini_companion.sessions.registry import IDLE_SECONDS
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import IN_THREAD_FROM, in_thread, off_loop
from tests.support.conversations import dialogue
from tests.support.sessions import Studio


class _Ring:
    """Something that only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


def much() -> list[list[int]]:
    """As many objects as are left out."""
    return [[] for _ in range(MUCH)]


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Nothing is left out before or after a test."""
    gc.unfreeze()
    yield
    gc.unfreeze()
    assert gc.isenabled()


def test_while_a_long_history_is_built_nothing_is_collected_and_then_it_is_left_out():
    collector = Collector()
    with collector.paused():
        assert not gc.isenabled()
        with collector.paused():
            made = much()
        assert not gc.isenabled(), "another one is still being built"
    assert gc.isenabled()
    assert gc.get_freeze_count() >= len(made)


def test_one_that_cannot_be_built_leaves_the_collector_on():
    with pytest.raises(LookupError), Collector().paused():
        raise LookupError
    assert gc.isenabled()


def test_what_is_told_to_be_left_out_is_until_all_is_gone_through():
    collector = Collector()
    kept = much()
    collector.leave_out()
    assert gc.get_freeze_count() >= len(kept)
    assert gc.isenabled()


def test_where_much_came_and_went_nothing_is_left_out_so_that_what_others_left_is_found():
    with Collector().paused():
        ring = weakref.ref(_Ring())
        assert much()
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert ring() is None


def test_what_is_left_out_again_and_again_is_gone_through_once_nothing_runs():
    collector = Collector()
    kept = list[object]()
    with collector.paused():
        ring = weakref.ref(_Ring())
        kept.append(much())
    for _ in range(98):
        with collector.paused():
            kept.append(much())
    collector.collect()
    assert ring() is not None, "so little is not worth a pause"
    with collector.paused():
        kept.append(much())
    collector.collect()
    assert ring() is None


async def test_much_work_in_a_thread_is_not_held_up_by_collections():
    assert not await off_loop(IN_THREAD_FROM, gc.isenabled)
    assert not await in_thread(lambda poll: gc.isenabled(), IN_THREAD_FROM)
    assert gc.isenabled()


async def test_little_work_leaves_the_collector_as_it_is():
    assert await off_loop(IN_THREAD_FROM - 1, gc.isenabled)
    assert await in_thread(lambda poll: gc.isenabled())
    assert gc.get_freeze_count() == 0


def test_what_is_left_of_a_long_history_is_found_once_it_has_gone():
    collector = Collector()
    with collector.paused():
        ring, made = _Ring(), much()
    left = weakref.ref(ring)
    gc.collect()
    collector.has_gone(ring)
    collector.collect()
    assert left() is not None, "somebody still has it"
    del ring
    gc.collect()
    assert left() is not None, "it is left out"
    collector.collect()
    assert left() is None
    assert gc.get_freeze_count() >= len(made), "the others are left out as before"


async def test_a_long_session_that_is_let_go_leaves_nothing_in_memory(tmp_path: Path):
    studio = Studio(tmp_path)
    left = await asyncio.create_task(long_session(studio))
    await background_work_ends()
    await studio.app.new_session(studio.client)
    studio.clock.time += round(IDLE_SECONDS * 1_000) + 1
    await studio.app.let_go_idle()
    assert left() is None


async def test_a_long_session_that_is_deleted_leaves_nothing_in_memory_once_nothing_runs(tmp_path: Path):
    studio = Studio(tmp_path)
    left = await asyncio.create_task(long_session(studio))
    await background_work_ends()
    (session_id,) = (session.session_id for session in (await studio.app.list_sessions()).sessions)
    await studio.app.delete(session_id)
    await studio.app.let_go_idle()
    assert left() is None


async def test_nothing_is_collected_from_the_first_byte_of_a_long_file_to_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    studio = Studio(tmp_path)
    file = tmp_path / "long.json"
    file.write_text(json.dumps([{"role": "user", "parts": [{"text": "x" * 300_000}]}]), "utf-8")
    create, seen = studio.store.create, list[bool]()

    async def watched(*args: Any) -> int:
        seen.append(gc.isenabled())
        return await create(*args)

    monkeypatch.setattr(studio.store, "create", watched)
    gc.collect()
    started = gc.get_stats()[2]["collections"]
    await studio.app.import_session(studio.client, str(file))
    assert seen == [False]
    assert gc.get_stats()[2]["collections"] == started
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0, "a session of one content is collected as any other"


async def long_session(studio: Studio) -> weakref.ref[Session]:
    session = await studio.load(dialogue(IN_THREAD_FROM, 1))  # twice as many objects as are left out
    assert gc.get_freeze_count() > 0
    vars(session)["itself"] = session  # else it goes without the collector, as long as nothing has brought a cycle
    return weakref.ref(session)


async def background_work_ends() -> None:
    """The sizes of its contents are kept beside everything else."""
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
