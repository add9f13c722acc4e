"""What sessions take on disk, and that none is deleted for room that somebody uses or keeps."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.store import GRACE_MS, THIRTY_DAYS_MS
from gemini_companion.engine.history.log import encode_entry
from tests.adapters.storage.stores import DAY_MS, MakeStore, ManualClock, meta, prompt
from tests.support.patience import PATIENCE


async def names(store: SqliteStore) -> set[str]:
    return {one.session_id for one in (await store.list()).sessions}


async def test_a_session_takes_its_log_and_its_private_files(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        entries = [prompt(1, "hello"), prompt(2, "ünïcode")]
        await store.create(meta("a"), entries)
        await store.create(meta("empty"))
        await store.save_text("a", "out.txt", "x" * 1000)
        found = {one.session_id: one for one in await store.stored()}
        assert found["a"].size == sum(len(encode_entry(entry)) for entry in entries) + 1000
        assert (found["empty"].size, found["empty"].is_open, found["empty"].is_kept) == (0, True, False)


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
        await other.save_meta(meta("written since", updated_at=meta().updated_at + 1))
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
            await store.save_meta(meta("new", updated_at=clock.time))
            await store.sweep()
        assert await names(store) == {"kept", "new"}
