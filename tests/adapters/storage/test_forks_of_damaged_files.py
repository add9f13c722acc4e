"""What forks share is found, or its loss is told, whatever became of the file; and in files of earlier versions."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gemini_companion.adapters.storage.schema import MIGRATIONS, migrate
from tests.adapters.storage.forked_chats import forked, log_of, talk
from tests.adapters.storage.stores import START, MakeStore, execute, meta
from tests.support.patience import PATIENCE

BEFORE = 12
"""The last version whose forks had copies of what they began with."""


async def test_an_entry_that_took_the_number_of_a_damaged_one_is_none_of_the_forks(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        await forked(store)
        await execute(store, "UPDATE log SET json = x'00' WHERE session_id = 's1' AND seq = 2")
        await store.append("s1", talk("another two", first=2))
        assert [entry.seq for entry in (await store.load("fork"))[1]] == [1, 3]
        assert len(await execute(store, "SELECT 1 FROM damaged_entries WHERE session_id = 'fork'")) == 1


@pytest.mark.parametrize("damage", ["first = -5", "last = 9223372036854775807", "last = 'x'", "owner = x'ff'"])
async def test_damage_of_what_says_where_shared_rows_are_hides_nothing_else(make_store: MakeStore, damage: str) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        await forked(store)
        await store.append("s1", talk("three of its own", "four", first=3))
        await execute(store, f"UPDATE shares SET {damage}")
        seqs = [entry.seq for entry in (await store.load("fork"))[1]]
        assert seqs in ([1, 2, 3], [3])
        await store.append("fork", talk("on", first=4))
        assert len(await log_of(store, "s1")) == 4


@pytest.mark.parametrize("lost", ["shares", "leases"])
async def test_of_a_damaged_file_forks_are_taken_over_with_what_they_share(
    make_store: MakeStore, database: Path, lost: str
) -> None:
    """Also where the table is lost that says so."""
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two", "three"))
        await forked(store, to=2)
        deeper = meta("of-fork", parent="fork", created_at=START + 1)
        await store.create(deeper, talk("deeper", first=4), [(1, 2), (3, 3)])
        before = {name: await log_of(store, name) for name in ("s1", "fork", "of-fork")}
        await store.close()
        file = sqlite3.connect(database)
        pages = file.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?", (lost,)).fetchall()
        file.close()
        data = bytearray(database.read_bytes())
        for (page,) in pages:
            data[(page - 1) * 4096 : page * 4096] = b"\xee" * 4096
        database.write_bytes(data)
        said: list[str] = []
        again = make_store(notify=said.append)
        assert {name: await log_of(again, name) for name in before} == before
        assert "was damaged" in said[0]


async def test_forks_of_the_last_version_have_their_own_rows_and_stay(make_store: MakeStore, database: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        await store.create(meta("fork", parent="s1"), talk("one", "two", "on"))
        await store.close()
        old = sqlite3.connect(database, isolation_level=None)
        old.executescript(f"DROP TABLE shares; ALTER TABLE sizes RENAME TO counts; PRAGMA user_version = {BEFORE}")
        again = make_store()
        assert len(await log_of(again, "fork")) == 3
        await forked(again, "new", parent="fork")
        await again.delete("s1")
        await again.delete("fork")
        assert len(await log_of(again, "new")) == 4
        old.close()


async def test_a_process_of_the_last_version_that_has_the_file_open_neither_reads_nor_deletes(
    make_store: MakeStore, database: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        database.parent.mkdir(parents=True)
        old = sqlite3.connect(database, isolation_level=None)
        migrate(old, MIGRATIONS[:BEFORE])
        store = make_store()
        await store.create(meta(), talk("one"))
        await forked(store)
        for statement in ("SELECT data FROM counts", "DELETE FROM counts"):  # loading and deleting do these
            with pytest.raises(sqlite3.OperationalError):
                old.execute(statement)
        old.close()
