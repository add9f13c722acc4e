"""The index for recall: filled late or in step, by one process or two, and made anew when it rots."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from pathlib import Path

import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.recall_index import count_behind, empty, index_step
from gemini_companion.adapters.storage.schema import MIGRATIONS, migrate
from gemini_companion.adapters.storage.search import searchable_text
from gemini_companion.engine.history.log import decode_entry
from gemini_companion.engine.recall.passages import entry_text, spoken_entry
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.engine.recall.words import indexed, spaced
from tests.adapters.storage.stores import FakeProcesses, MakeStore, execute, meta, seqs
from tests.adapters.storage.test_recalling import COFFEE, Talk, recalled, texts
from tests.hostile.timing import cpu_seconds
from tests.support.patience import PATIENCE

OLD = 3
"""The version of the store before it had this index."""
WITH_COPIES = 11
"""The last version whose indexes had copies of the texts."""


async def make_old(store: SqliteStore, database: Path, version: int = OLD) -> None:
    """Make the file what an earlier version would have left, with the texts in its index."""
    await store.close()
    fresh = database.with_suffix(".old")
    old = sqlite3.connect(fresh, isolation_level=None)
    migrate(old, MIGRATIONS[:version])
    old.execute("ATTACH ? AS new", (str(database),))
    old.execute("BEGIN")
    for (table,) in old.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        here, there = (_columns(old, f"{schema}.{table}") for schema in ("main", "new"))
        if table in ("sessions", "log", "event_numbers", "vectors"):
            both = ", ".join(column for column in here if column in there)
            old.execute(f"INSERT INTO {table} ({both}) SELECT {both} FROM new.{table} ORDER BY rowid")
    for session_id, seq, data in old.execute("SELECT session_id, seq, json FROM log").fetchall():
        text = spaced(searchable_text(decode_entry(data)))
        row = old.execute("INSERT INTO documents (session_id, seq) VALUES (?, ?)", (session_id, seq)).lastrowid
        old.execute("INSERT INTO texts (rowid, body) VALUES (?, ?)", (row, text))
    if version > OLD:  # what it indexed, each text once more
        old.execute(
            "INSERT INTO recall_sessions SELECT number, session_id, indexed_to, places FROM new.recall_sessions"
        )
        old.execute("INSERT INTO passages SELECT * FROM new.passages")
        for spot, data in old.execute(
            "SELECT passages.id, json FROM passages JOIN recall_sessions ON number = passages.id >> 24"
            " JOIN log USING (session_id, seq)"
        ).fetchall():
            said = spoken_entry(decode_entry(data))
            assert said is not None
            old.execute("INSERT INTO recall (rowid, body) VALUES (?, ?)", (spot << 9, indexed(entry_text(said))))
    old.execute("COMMIT")
    old.close()
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    fresh.replace(database)


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    schema, name = table.split(".")
    return [row[1] for row in connection.execute(f"PRAGMA {schema}.table_info ({name})")]


async def test_sessions_of_an_earlier_version_are_found(make_store: MakeStore, database: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), COFFEE.entries)
        await make_old(store, database)
        again = make_store()
        assert (await texts(again, "coffee machine"))[0] == "And the coffee machine?"
        (version,) = await execute(again, "PRAGMA user_version")
        assert version == (len(MIGRATIONS),)


async def test_the_texts_of_an_index_with_copies_go_and_everything_is_found(
    make_store: MakeStore, database: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(title="Of the parser"), COFFEE.entries)
        await make_old(store, database, WITH_COPIES)
        copies = database.read_bytes().count(b"And the coffee machine?")
        again = make_store()
        assert copies == 3
        for query in ("coffee mach", "parser", "?", "of the"):
            assert len((await again.list(query=query)).sessions) == 1, query
        assert (await again.list(query="->")).sessions == ()
        assert (await texts(again, "coffee machine"))[0] == "And the coffee machine?"
        await again.worker.run("alone", lambda connection: connection.execute("VACUUM").fetchall())
        await again.close()
        assert database.read_bytes().count(b"And the coffee machine?") == 1


async def large_old_store(make_store: MakeStore, database: Path) -> SqliteStore:
    """A store of four chats, s0 to s3, the newest last, with more to be indexed than a search waits for."""
    store = make_store()
    for number in range(4):
        turns = [(f"Marmot {number} {turn} " + "filling words " * 40, "Yes.") for turn in range(400)]
        await store.create(meta(f"s{number}", updated_at=number), Talk(*turns, ids=f"s{number}").entries)
    await make_old(store, database)
    return make_store()


async def test_a_search_does_not_wait_for_a_large_old_store_and_says_what_is_missing(
    make_store: MakeStore, database: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        again = await large_old_store(make_store, database)
        result = await again.recall.search(parse_query("marmot"))
        assert {hit.session_id for hit in result.hits} < {"s0", "s1", "s2", "s3"}
        assert "s3" in {hit.session_id for hit in result.hits}, "the newest is indexed first"
        assert result.unindexed > 0
        await again.recall.index()
        for number in range(4):
            result = await again.recall.search(parse_query("marmot"), session_id=f"s{number}", limit=50)
            assert (result.unindexed, len(result.hits)) == (0, 50)


async def test_a_search_of_the_listing_does_not_wait_for_a_large_old_store_and_says_what_is_missing(
    make_store: MakeStore, database: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        again = await large_old_store(make_store, database)
        page = await again.list(query="marmot")
        assert (page.unindexed > 0, page.sessions[0].session_id, len(page.sessions) < 4) == (True, "s3", True)
        await again.recall.index()
        page = await again.list(query="marmot")
        assert (page.unindexed, len(page.sessions)) == (0, 4)


async def test_entries_that_are_written_while_older_ones_wait_are_found_in_their_order(
    make_store: MakeStore, database: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        talk = Talk(("One marmot.", "Yes."))
        await store.create(meta(), talk.entries)
        await make_old(store, database)
        again = make_store()
        await again.hold("s1")
        written = len(talk.entries)
        await again.append("s1", talk.turn("Two zebras.", "No.").entries[written:])
        hit = (await recalled(again, "zebra"))[0]
        assert (hit.text, hit.before) == ("Two zebras.", ("One marmot.", "Yes."))


async def test_a_step_of_indexing_takes_little_time_whatever_the_entries_are_like() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    from gemini_companion.adapters.storage.records import insert_session
    from gemini_companion.adapters.storage.vaulted import Vaulted

    entries = Talk(("An entry of five megabytes. " * 180_000, "Yes.")).entries
    insert_session(connection, Vaulted().meta(meta()), Vaulted().entries(entries))
    empty(connection)
    assert cpu_seconds(lambda: index_step(connection), enough=2.0) < 2.0
    assert connection.execute("SELECT count(*) FROM recall").fetchone()[0] > 50


async def test_a_step_of_indexing_takes_many_small_sessions_and_says_exactly_how_many_are_left() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    from gemini_companion.adapters.storage.records import insert_session
    from gemini_companion.adapters.storage.vaulted import Vaulted

    for number in range(70):
        entries = Talk(("One marmot.", "Yes."), ids=f"s{number}").entries
        insert_session(connection, Vaulted().meta(meta(f"s{number}", updated_at=number)), Vaulted().entries(entries))
    empty(connection)
    left = [index_step(connection)]
    while left[-1]:
        assert left[-1] == count_behind(connection)
        left.append(index_step(connection))
    assert len(left) == 3, "of 210 entries it takes a hundred at once"
    assert count_behind(connection) == 0


async def test_two_processes_keep_one_index(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        one, two = make_store(processes=FakeProcesses(1)), make_store(processes=FakeProcesses(2))
        await one.create(meta("mine"), Talk(("One marmot.", "Yes.")).entries)
        await two.create(meta("yours"), Talk(("Two marmots.", "Yes."), ids="your").entries)
        await asyncio.gather(*(each.recall.index() for each in (one, two, one, two)))
        for each in (one, two):
            assert {hit.session_id for hit in await recalled(each, "marmots")} == {"mine", "yours"}
        assert await execute(one, "SELECT count(*) FROM passages") == [(4,)]
        await two.delete("yours")
        assert {hit.session_id for hit in await recalled(one, "marmots")} == {"mine"}


async def test_a_session_that_an_earlier_version_deleted_leaves_the_index(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("gone"), COFFEE.entries)
        await execute(store, "DELETE FROM log")
        await execute(store, "DELETE FROM sessions")
        assert await texts(store, "coffee") == []
        await store.recall.index()
        assert await execute(store, "SELECT count(*) FROM recall") == [(0,)]


async def test_searches_run_while_others_write_and_read(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        talk = Talk(("Hello.", "Hello."))
        await store.create(meta(), talk.entries)

        async def write() -> None:
            for number in range(30):
                written = len(talk.entries)
                await store.append("s1", talk.turn(f"Marmot {number}.", "Yes.").entries[written:])

        async def search() -> None:
            for _ in range(30):
                assert len(await recalled(store, "marmot", limit=50)) <= 31

        await asyncio.gather(write(), search(), search(), search())
        assert len(await seqs(store)) == 93
        assert len(await recalled(store, "marmot", limit=50)) >= 25


async def test_a_damaged_log_entry_is_left_out_of_what_is_found(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), COFFEE.entries)
        await execute(store, "UPDATE log SET json = ? WHERE seq = 4", b"rotten")
        assert "And the coffee machine?" not in await texts(store, "coffee machine")
        assert [hit.text for hit in (await store.recall.whole(turn_id="t2")).hits] == ["None at all."]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE recall_data SET block = x'ffff' WHERE id > 10",
        "UPDATE recall_data SET block = x'00'",
        "DELETE FROM recall_data",
        "DELETE FROM recall_docsize",
        "UPDATE recall_idx SET pgno = 9999",
    ],
)
@pytest.mark.parametrize("is_open", [False, True], ids=["when it is opened", "while it is open"])
async def test_a_damaged_index_is_made_anew_and_everything_is_found_again(
    database: Path, make_store: MakeStore, caplog: pytest.LogCaptureFixture, damage: str, is_open: bool
) -> None:
    async with asyncio.timeout(PATIENCE):
        said: list[str] = []
        store = make_store(notify=said.append)
        turns = [(f"Marmot number {number} eats grass.", "Yes.") for number in range(60)]
        await store.create(meta(), Talk(*turns).entries)
        if not is_open:
            await store.close()
            store = make_store(notify=said.append)
        other = sqlite3.connect(database, isolation_level=None)
        other.execute(damage)
        other.close()
        with caplog.at_level(logging.ERROR):
            assert len(await recalled(store, "marmots eating", limit=50)) == 50
        assert all("nothing was lost" in sentence or "could be taken over" in sentence for sentence in said)
        assert not any("could not" in sentence for sentence in said)
        assert len(await seqs(store)) == 180
