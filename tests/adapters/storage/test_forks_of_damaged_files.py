"""What forks share is found, or its loss is told, whatever became of the file; and in files of earlier versions."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gemini_companion.adapters.storage import recall_index
from gemini_companion.adapters.storage.schema import MIGRATIONS, migrate
from gemini_companion.engine.recall.query import parse_query
from tests.adapters.storage.forked_chats import forked, log_of, talk
from tests.adapters.storage.stores import START, MakeStore, execute, meta
from tests.support.patience import PATIENCE

BEFORE = 12
"""The last version whose forks had copies of what they began with."""


def lose(database: Path, table: str) -> None:
    """Have damage in a small table and its indexes, all of them."""
    file = sqlite3.connect(database)
    pages = file.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?", (table,)).fetchall()
    file.close()
    data = bytearray(database.read_bytes())
    for (page,) in pages:
        data[(page - 1) * 4096 : page * 4096] = b"\xee" * 4096
    database.write_bytes(data)


async def test_an_entry_that_took_the_number_of_a_damaged_one_is_none_of_the_forks(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        await forked(store)
        await execute(store, "UPDATE log SET json = x'00' WHERE session_id = 's1' AND seq = 2")
        await store.append("s1", talk("another two", first=2))
        assert [entry.seq for entry in (await store.load("fork"))[1]] == [1, 3]
        assert len(await execute(store, "SELECT 1 FROM damaged_entries WHERE session_id = 'fork'")) == 1


async def test_an_entry_that_took_the_number_of_a_lost_row_is_none_of_the_forks(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two", "three"))
        await forked(store)
        await forked(store, "of-fork", parent="fork")
        await forked(store, "early", to=1)
        await execute(store, "DELETE FROM log WHERE session_id = 's1' AND seq >= 2")
        await execute(
            store, "INSERT INTO damaged_entries (session_id, seq, json) VALUES ('s1', 2, x''), ('s1', 3, x'')"
        )
        await store.append("s1", talk("another two", first=2))
        for name, left in (("fork", [1, 4]), ("of-fork", [1, 4, 5]), ("early", [1, 2])):
            assert [entry.seq for entry in (await store.load(name))[1]] == left
        lost = await execute(
            store, "SELECT session_id, seq FROM damaged_entries WHERE session_id <> 's1' ORDER BY 1, 2"
        )
        assert lost == [("fork", 2), ("fork", 3), ("of-fork", 2), ("of-fork", 3)]


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


@pytest.mark.parametrize("damage", ["first = x'00'", "first = 'x'", "last = x'02'", "last = 'x'", "owner = x'ff'"])
async def test_a_chat_is_deleted_whatever_became_of_what_says_where_shared_rows_are(
    make_store: MakeStore, damage: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        await forked(store)
        await forked(store, "sound")
        await execute(store, f"UPDATE shares SET {damage} WHERE session_id = 'fork'")
        await store.delete("s1")
        await store.delete("fork")
        assert len(await log_of(store, "sound")) == 3


@pytest.mark.parametrize("column", ["first", "last", "owner"])
async def test_a_fork_is_read_and_deleted_where_nothing_is_left_of_a_number(
    make_store: MakeStore, database: Path, column: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        await forked(store)
        await store.close()
        file = sqlite3.connect(database, isolation_level=None)
        (made,) = file.execute("SELECT sql FROM sqlite_schema WHERE name = 'shares'").fetchone()
        rows = file.execute("SELECT session_id, owner, first, last FROM shares").fetchall()
        file.execute("DROP TABLE shares")
        file.execute(made.replace(" NOT NULL", ""))
        file.execute("CREATE INDEX shares_by_owner ON shares (owner, first)")
        file.executemany("INSERT INTO shares VALUES (?, ?, ?, ?)", rows)
        file.execute(f"UPDATE shares SET {column} = NULL")
        file.close()
        again = make_store()
        assert [entry.seq for entry in (await again.load("fork"))[1]] in ([1, 2, 3], [3])
        await again.delete("s1")
        await again.delete("fork")
        assert not (await again.list()).sessions


@pytest.mark.parametrize("order", ["rowid", "-rowid"])
@pytest.mark.parametrize("lost", ["shares", "leases", "sessions"])
async def test_of_a_damaged_file_forks_are_taken_over_with_what_they_share(
    make_store: MakeStore, database: Path, lost: str, order: str
) -> None:
    """Also where the table is lost that says so, and in whichever order the chats are read: damage turns it round."""
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two", "three"))
        await forked(store, to=2)
        deeper = meta("of-fork", parent="fork", created_at=START + 1)
        await store.create(deeper, talk("deeper", first=4), [(1, 2), (3, 3)])
        before = {name: await log_of(store, name) for name in ("s1", "fork", "of-fork")}
        await execute(store, f"UPDATE sessions SET rowid = {order}")
        await store.close()
        lose(database, lost)
        said: list[str] = []
        again = make_store(notify=said.append)
        assert {name: await log_of(again, name) for name in before} == before
        assert "was damaged" in said[0]
        assert "of 3 sessions" in said[0]
        assert {one.session_id for one in (await again.list()).sessions} == set(before)


@pytest.mark.parametrize("lost", ["sessions", "shares"])
async def test_a_deleted_chat_does_not_come_back_out_of_a_damaged_file(
    make_store: MakeStore, database: Path, lost: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two", "three"))
        await forked(store)
        await store.create(meta("alone", title="Alone"), talk("by itself"))
        await store.create(meta("shared"), talk("all of it"))
        await store.reserve_event_seqs("shared", 1)
        await forked(store, "of-shared", parent="shared", to=1)
        before = {name: await log_of(store, name) for name in ("fork", "alone", "shared", "of-shared")}
        await store.delete("s1")
        await store.close()
        lose(database, lost)
        again = make_store()
        assert {one.session_id for one in (await again.list()).sessions} == set(before)
        assert {name: await log_of(again, name) for name in before} == before
        await again.hold("alone")
        await again.append("alone", talk("and on", first=2))


async def test_a_fork_that_lost_all_that_it_wrote_itself_is_searched_and_harms_no_other_search(
    make_store: MakeStore,
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk(*(f"alpha{number}" for number in range(150))))
        await forked(store)
        await execute(store, "DELETE FROM log WHERE session_id = 'fork'")
        await store.worker.run("write", recall_index.empty)
        assert (await store.recall.search(parse_query("nothing"))).hits == ()
        found = await store.recall.search(parse_query("alpha149"), session_id="fork")
        assert {hit.session_id for hit in found.hits} == {"fork"}
        assert await execute(store, "SELECT indexed_to FROM recall_sessions") == [(150,), (150,)]


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
