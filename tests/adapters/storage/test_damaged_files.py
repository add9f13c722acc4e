"""Files that rotted, that are none, that are newer or older than the program: nothing that can be read is lost, nothing
is deleted.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.held_store import lost_behind
from gemini_companion.adapters.storage.schema import MIGRATIONS, migrate, version_of
from gemini_companion.engine.errors import StaleVersion, StorageFault
from gemini_companion.engine.history.log import encode_entry
from tests.adapters.storage.stores import START, MakeStore, event, execute, meta, prompt, read, seqs, write
from tests.support.patience import PATIENCE


async def test_a_damaged_row_is_left_out_and_the_rest_is_read(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(number) for number in range(1, 6)])
        await execute(store, "UPDATE log SET json = ? WHERE seq = 2", b'{"type": "prompt", "id": 5}')
        await execute(store, "UPDATE log SET json = ? WHERE seq = 4", b"\xff\x00garbage")
        with caplog.at_level(logging.WARNING):
            assert await seqs(store) == [1, 3, 5]
        assert "Entry 2 of session s1" in caplog.text
        assert "Entry 4 of session s1" in caplog.text
        await store.append("s1", [prompt(6)])


async def test_a_session_that_lost_entries_is_told_of_once_with_what_can_be_done(
    make_store: MakeStore, database: Path
) -> None:
    said: list[str] = []
    store = make_store(notify=said.append)
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(title="Mending the parser"), [prompt(number) for number in range(1, 10)])
        await store.create(meta("s2"), [prompt(1)])
        await store.load("s1")
        assert said == []
        await execute(store, "UPDATE log SET json = ? WHERE session_id = 's1' AND seq IN (2, 4)", b"rotten")
        for session_id in ("s1", "s1", "s2"):
            await store.load(session_id)
        (sentence,) = said
        assert "“Mending the parser” lost 2 entries (numbers 2, 4)" in sentence
        assert "Export the chat" in sentence
        assert str(database.parent) in sentence
        await store.close()
        again = make_store(notify=said.append)
        await again.load("s1")
        assert len(said) == 2, "another process tells it too"


async def test_a_damaged_row_at_the_end_does_not_stop_the_session_from_going_on(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1), prompt(2, "lost words"), prompt(3)])
        await execute(store, "UPDATE log SET json = ? WHERE seq >= 2", b"rotten")
        assert await seqs(store) == [1]
        await store.append("s1", [prompt(2, "new words")])
        assert (await store.load("s1"))[1] == [prompt(1), prompt(2, "new words")]
        assert await execute(store, "SELECT seq, json FROM damaged_entries") == [
            (2, b"rotten"),
            (3, b"rotten"),
        ], "kept, not deleted"
        assert not (await store.list(query="lost")).sessions


async def test_a_row_that_can_be_read_is_never_taken_for_damaged(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1), prompt(2), prompt(3)])
        await execute(store, "UPDATE log SET json = ? WHERE seq = 2", b"rotten")
        with pytest.raises(StaleVersion):
            await store.append("s1", [prompt(2)])
        assert await seqs(store) == [1, 3]


async def test_a_damaged_description_leaves_the_title_and_the_log(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(title="Kept"), [prompt(1)])
        await execute(store, "UPDATE sessions SET meta = ?", b"{")
        loaded, entries = await store.load("s1")
        assert (loaded.title, loaded.session_id, len(entries)) == ("Kept", "s1", 1)
        assert [listed.title for listed in (await store.list()).sessions] == ["Kept"]


@pytest.mark.parametrize(
    "garbage",
    [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 5_000],
    ids=["no database", "only the first bytes"],
)
async def test_a_file_that_is_no_database_is_put_aside_and_said(
    database: Path, make_store: MakeStore, caplog: pytest.LogCaptureFixture, garbage: bytes
) -> None:
    said: list[str] = []
    store = make_store(notify=said.append)
    write(database, garbage)
    async with asyncio.timeout(PATIENCE):
        with caplog.at_level(logging.ERROR):
            await store.create(meta(), [prompt(1)])
        assert await seqs(store) == [1]
    broken = database.parent / "sessions.db.broken-20231114T221320"
    assert read(broken) == garbage
    assert len(said) == 1
    assert str(broken) in said[0]
    assert str(broken) in caplog.text


async def test_two_files_that_were_put_aside_in_the_same_second_are_both_kept(
    database: Path, make_store: MakeStore
) -> None:
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            store = make_store()
            write(database, b"no database, for sure" * 99)
            await store.list()
            await store.close()
    assert len([path for path in database.parent.iterdir() if ".broken-" in path.name]) == 2


async def filled(make_store: MakeStore) -> None:
    store = make_store()
    for name in ("a", "b"):
        await store.create(
            meta(name, title=f"Title {name}"),
            [prompt(number, f"{name} words {number} " + "x" * 900) for number in range(1, 201)],
        )
    await store.reserve_event_seqs("a", 50)
    store.save_events([event(1, "a")])
    await store.close()


def spoil_a_page_of_the_log(data: bytearray) -> None:
    """Overwrite a page in the middle of those with entries."""
    pages = [start for start in range(0, len(data), 4096) if b'"turnId"' in data[start : start + 4096]]
    middle = pages[len(pages) // 2]
    data[middle : middle + 4096] = b"\xee" * 4096


async def test_what_can_still_be_read_of_a_damaged_file_is_taken_over(database: Path, make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        data = bytearray(read(database))
        spoil_a_page_of_the_log(data)
        write(database, bytes(data))
        said: list[str] = []
        store = make_store(notify=said.append)
        there = {name: await seqs(store, name) for name in ("a", "b")}
        lost = 400 - sum(map(len, there.values()))
        assert 0 < lost < 20
        assert f"{lost} could not" in said[0]
        told = [sentence for sentence in said[1:] if "Export the chat" in sentence]
        assert len(told) == len(said) - 1 == sum(len(numbers) < 200 for numbers in there.values())
        await store.load("a")
        assert len(said) == 1 + len(told), "each is told once"
        assert all(numbers == sorted(numbers) for numbers in there.values())
        assert (await store.meta("a")).title == "Title a"
        assert [listed.session_id for listed in (await store.list(query="b words 200 title")).sessions] == ["b"]
        assert await store.reserve_event_seqs("a", 1) == 51
        assert await execute(store, "PRAGMA integrity_check") == [("ok",)]
        assert any(".broken-" in path.name and read(path) == bytes(data) for path in database.parent.iterdir())


@pytest.mark.parametrize("change", [b"\xbd", b"x", b"\x00", b"\xe2"])
@pytest.mark.parametrize(
    "word",
    [
        b"CREATE TABLE sessions",
        b"session_id TEXT PRIMARY KEY NOT NULL, title",
        b'CREATE TABLE "log"',
        b"json BLOB NOT NULL, PRIMARY KEY",
        b"sessions_by_timesessions",
        b"event_numbersevent_numbers",
        b"VIRTUAL TABLE texts USING fts5",
        b"unredacted ON log",
        b"sealed BLOB NOT NULL",
    ],
)
async def test_one_byte_of_what_the_file_says_of_its_tables_locks_no_chat_away(
    database: Path, make_store: MakeStore, word: bytes, change: bytes
) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        data = bytearray(read(database))
        place = data.index(word) + len(word) - 3
        data[place : place + 1] = change
        write(database, bytes(data))
        said: list[str] = []
        store = make_store(notify=said.append)
        await store.list()
        for name in ("a", "b"):
            assert len(await seqs(store, name)) == 200
            await store.hold(name)
            await store.append(name, [prompt(201, "later words")])
        await store.create(meta("c"), [prompt(1)])
        assert {one.session_id for one in (await store.list(query="later words")).sessions} == {"a", "b"}
        assert not any("fresh" in path.name or ".new" in path.name for path in database.parent.iterdir())
        if said:  # some bytes change nothing that matters
            (sentence,) = said
            assert "400 entries of 2 sessions could be taken over." in sentence


async def test_entries_that_only_an_index_has_lost_are_taken_over(database: Path, make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("DELETE FROM log WHERE session_id = 'b' AND seq = 7")
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("CREATE TABLE other (session_id TEXT, seq INTEGER, PRIMARY KEY (session_id, seq))")
            connection.execute(
                "INSERT INTO other (rowid, session_id, seq) SELECT rowid, session_id, seq FROM log WHERE seq != 5"
            )
            (root,) = connection.execute(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_other_1'"
            ).fetchone()
            connection.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'sqlite_autoindex_log_1'", (root,))
            connection.execute("DELETE FROM sqlite_schema WHERE tbl_name = 'other'")
        said: list[str] = []
        store = make_store(notify=said.append)
        assert await seqs(store, "a") == list(range(1, 201))
        assert await seqs(store, "b") == [*range(1, 7), *range(8, 201)]
        assert len(said) == 2, said
        assert "399 entries of 2 sessions could be taken over" in said[0]
        assert "lost 1 entry (number 7)" in said[1]


async def test_entries_that_are_gone_without_a_trace_are_told_of_once(database: Path, make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(title="Marmots"), [prompt(number, f"words {number}") for number in range(1, 10)])
        await store.recall.index()
        await store.close()
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("DELETE FROM log WHERE seq IN (3, 8, 9)")
        said: list[str] = []
        store = make_store(notify=said.append)
        for _ in range(2):
            assert await seqs(store) == [1, 2, 4, 5, 6, 7]
        (sentence,) = said
        assert "“Marmots” lost 3 entries (numbers 3, 8, 9)" in sentence
        assert not any(".broken-" in path.name for path in database.parent.iterdir())
        await store.hold("s1")
        await store.append("s1", [prompt(8, "and on")])
        assert await seqs(store) == [1, 2, 4, 5, 6, 7, 8]


async def test_a_damaged_file_stays_where_it_is_while_there_is_no_room_for_a_new_one(
    database: Path, make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        data = bytearray(read(database))
        spoil_a_page_of_the_log(data)
        write(database, bytes(data))
        store = make_store()

        def full(*_arguments: object, **_named: object) -> tuple[int, int]:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("gemini_companion.adapters.storage.salvage.salvage", full)
            with pytest.raises(StorageFault, match="no space left"):
                await execute(store, "SELECT count(length(json)) FROM log NOT INDEXED")
        assert read(database) == bytes(data)
        there = [len(await seqs(store, name)) for name in ("a", "b")]
        assert sum(there) > 380


async def test_a_process_that_ends_between_putting_aside_and_replacing_loses_nothing(
    database: Path, make_store: MakeStore
) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        os.rename(database, f"{database}.new")
        assert len(await seqs(make_store(), "a")) == 200


async def test_what_a_killed_process_left_in_the_journal_is_taken_over_too(
    database: Path, make_store: MakeStore
) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        open_one = make_store()
        await open_one.hold("a")
        await open_one.append("a", [prompt(201, "only in the journal")])
        (database.parent / "copy").mkdir()
        for name in ("sessions.db", "sessions.db-wal"):
            write(database.parent / "copy" / name, read(database.parent / name))
        await open_one.close()
        damaged = bytearray(read(database.parent / "copy" / "sessions.db"))
        spoil_a_page_of_the_log(damaged)
        elsewhere = database.parents[2] / "elsewhere"
        write(elsewhere / "projects" / "default" / "sessions.db", bytes(damaged))
        write(
            elsewhere / "projects" / "default" / "sessions.db-wal", read(database.parent / "copy" / "sessions.db-wal")
        )
        store = make_store(data_dir=elsewhere)
        await execute(store, "SELECT count(length(json)) FROM log NOT INDEXED")
        assert (await seqs(store, "a"))[-1] == 201
        assert len((await store.list(query="only in the journal")).sessions) == 1


@pytest.mark.parametrize("is_open", [False, True], ids=["when it is opened", "while it is open"])
async def test_a_damaged_index_is_made_anew_and_nothing_is_put_aside(
    database: Path, make_store: MakeStore, is_open: bool
) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        said: list[str] = []
        store = make_store(notify=said.append)
        await store.hold("a") if is_open else None
        other = sqlite3.connect(database, isolation_level=None)
        other.execute("UPDATE texts_data SET block = x'ffff' WHERE id > 10")  # its pages
        other.close()
        assert len((await store.list(query="words")).sessions) == 2
        await store.hold("a")
        await store.append("a", [prompt(201, "after the repair")])
        assert [listed.session_id for listed in (await store.list(query="after the repair")).sessions] == ["a"]
        assert said == []


# --- versions


async def test_a_file_of_a_newer_program_is_refused_and_left_as_it_is(database: Path, make_store: MakeStore) -> None:
    database.parent.mkdir(parents=True)
    newer = sqlite3.connect(database, isolation_level=None)
    newer.execute("CREATE TABLE sessions (wholly TEXT, different INTEGER)")
    newer.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    newer.close()
    before = read(database)
    store = make_store()
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            with pytest.raises(StorageFault, match="newer gemini-companion") as caught:
                await store.list()
            assert "Update gemini-companion" in caught.value.hint
        await store.close()
    assert read(database) == before


async def test_a_file_of_version_1_is_brought_forward_with_all_that_is_in_it(
    database: Path, make_store: MakeStore
) -> None:
    database.parent.mkdir(parents=True)
    old = sqlite3.connect(database, isolation_level=None)
    migrate(old, MIGRATIONS[:1])
    row = ("s1", "Old", START, msgspec.json.encode(meta(title="Old")))
    old.execute("INSERT INTO sessions (session_id, title, updated_at, meta) VALUES (?, ?, ?, ?)", row)
    old.execute(
        "INSERT INTO entries (session_id, seq, id, type, time, json) VALUES ('s1', 1, 'e1', 'prompt', ?, ?)",
        (START, encode_entry(prompt(1))),
    )
    old.execute("INSERT INTO documents (id, session_id, seq) VALUES (1, 's1', 1)")
    old.execute("INSERT INTO texts (rowid, body) VALUES (1, 'hi')")
    old.close()
    store = make_store()
    async with asyncio.timeout(PATIENCE):
        assert await store.load("s1") == (meta(title="Old"), [prompt(1)])
        assert len((await store.list(query="hi")).sessions) == 1
        assert await execute(store, "PRAGMA user_version") == [(len(MIGRATIONS),)]


def test_each_migration_is_made_once_and_a_failing_one_changes_nothing() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        first, second = ("CREATE TABLE one (x)",), ("CREATE TABLE two (x)", "INSERT INTO one VALUES (1)")
        migrate(connection, [first])
        migrate(connection, [first, second])
        migrate(connection, [first, second])
        assert version_of(connection) == 2
        assert connection.execute("SELECT count(*) FROM one").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, [first, second, ("CREATE TABLE three (x)", "INSERT INTO nowhere VALUES (1)")])
        assert version_of(connection) == 2
        assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (2,)
    finally:
        connection.close()


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link to itself"])
async def test_what_is_no_file_in_the_place_of_the_store_is_put_aside_and_said(
    database: Path, make_store: MakeStore, kind: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        await filled(make_store)
        database.unlink()
        if kind == "pipe":
            os.mkfifo(database)
        elif kind == "folder":
            database.mkdir()
        else:
            database.symlink_to("/dev/zero" if kind == "device" else database)
        said: list[str] = []
        store = make_store(notify=said.append)
        await store.create(meta("new"), [prompt(1)])
        assert await seqs(store, "new") == [1]
        (sentence,) = said
        assert "there was no file" in sentence
        assert "backup" in sentence
        assert len([path for path in database.parent.iterdir() if ".broken-" in path.name]) == 1


@pytest.mark.parametrize("companion", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link to nothing"])
async def test_what_is_no_file_beside_the_store_stops_no_chat_and_is_put_aside_and_said(
    database: Path, make_store: MakeStore, kind: str, companion: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        said: list[str] = []
        store = make_store(notify=said.append)
        await store.create(meta(), [prompt(1)])
        await store.close()
        beside = database.with_name(database.name + companion)
        beside.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(beside)
        elif kind == "folder":
            beside.mkdir()
        else:
            beside.symlink_to(database.parent / "nothing")
        again = make_store(notify=said.append)
        await again.create(meta("new"), [prompt(1)])
        assert (await seqs(again, "s1"), await seqs(again, "new")) == ([1], [1])
        (sentence,) = said
        assert str(beside) in sentence
        assert not (database.parent / "nothing").exists()


async def test_an_empty_file_beside_files_of_chats_is_said_to_have_lost_them(
    database: Path, make_store: MakeStore
) -> None:
    async with asyncio.timeout(PATIENCE):
        said: list[str] = []
        first = make_store(notify=said.append)
        await first.create(meta(), [prompt(1)])
        await first.close()
        assert said == []
        write(database, b"")
        (database.parent / "files" / "s1").mkdir(parents=True)
        store = make_store(notify=said.append)
        assert not (await store.list()).sessions
        (sentence,) = said
        assert "is empty, though there was one with earlier chats" in sentence


@pytest.mark.parametrize("kind", ["empty", "another program's", "without its log"])
async def test_a_file_without_chats_in_the_place_of_a_store_is_said(
    database: Path, make_store: MakeStore, kind: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        said: list[str] = []
        first = make_store(notify=said.append)
        await first.create(meta(), [prompt(1)])
        await first.close()
        write(database, b"")
        if kind != "empty":
            other = sqlite3.connect(database)
            other.execute("PRAGMA journal_mode = WAL" if kind == "without its log" else "CREATE TABLE songs (title)")
            other.close()
        store = make_store(notify=said.append)
        assert not (await store.list()).sessions
        (sentence,) = said
        assert "is empty, though there was one with earlier chats" in sentence
        await store.close()
        assert not (await make_store(notify=said.append).list()).sessions
        assert len(said) == 1


async def test_changes_that_a_damaged_log_ends_before_are_said_to_be_lost(
    tmp_path: Path, database: Path, make_store: MakeStore
) -> None:
    """As a process is killed: what it wrote last stands in the log alone."""
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), [prompt(1)])
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(2, 8):
            await store.append("s1", [prompt(number, "y" * 900)])
        whole = tmp_path / "whole"
        shutil.copytree(database.parent.parent, whole / "projects")
        log = bytearray(read(whole / "projects" / "default" / "sessions.db-wal"))
        (whole / "projects" / "default" / "sessions.db-shm").unlink()
        rotten = tmp_path / "rotten"
        shutil.copytree(whole, rotten)
        log[len(log) // 2] ^= 0xFF
        write(rotten / "projects" / "default" / "sessions.db-wal", bytes(log))
        said: dict[str, list[str]] = {"whole": [], "rotten": []}
        for name, folder in (("whole", whole), ("rotten", rotten)):
            again = make_store(data_dir=folder, notify=said[name].append)
            there = await seqs(again)
            assert there[0] == 1
            assert (there == list(range(1, 8))) == (name == "whole")
        assert said["whole"] == []
        (sentence,) = said["rotten"]
        assert "what was said last may be missing" in sentence
        (kept,) = (rotten / "projects" / "default").glob("*-wal.broken-*")
        assert read(kept) == bytes(log)
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600


async def test_changes_that_are_whole_and_not_counted_are_not_said_to_be_lost(
    tmp_path: Path, database: Path, make_store: MakeStore
) -> None:
    """As a process is killed between a commit's last page and the count of it, beside another one that goes on."""
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), [prompt(1)])
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        await store.append("s1", [prompt(2)])
        size = database.with_name("sessions.db-wal").stat().st_size
        await store.append("s1", [prompt(3)])
        log = read(database.with_name("sessions.db-wal"))
    counted = (size - 32) // (24 + 4096)
    write(tmp_path / "copy.db-wal", log)
    assert len(log) > size
    assert not lost_behind(str(tmp_path / "copy.db"), counted)
    assert not lost_behind(str(tmp_path / "copy.db"), 0)
    assert not lost_behind(str(tmp_path / "none.db"), 0)
    for at in (size + 30, size + 16):  # in the page, in the sum
        damaged = bytearray(log)
        damaged[at] ^= 0xFF
        write(tmp_path / "copy.db-wal", bytes(damaged))
        assert lost_behind(str(tmp_path / "copy.db"), counted)
        assert lost_behind(str(tmp_path / "copy.db"), 0)
    write(tmp_path / "copy.db-wal", log[: size + 100])
    assert not lost_behind(str(tmp_path / "copy.db"), counted)
