"""A store that another process keeps locked is put together from its file and its log as SQLite itself reads them."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.storage.held_store import connection_to_copy, with_changes
from tests.support.examples import examples

Statement = tuple[str, tuple[Any, ...]]

STATEMENTS = st.one_of(
    st.tuples(st.just("INSERT INTO things (text) VALUES (?)"), st.tuples(st.text(max_size=50))),
    st.tuples(st.just("INSERT INTO things (text) VALUES (zeroblob(?))"), st.tuples(st.integers(0, 20_000))),
    st.tuples(st.just("DELETE FROM things WHERE rowid % ? = 0"), st.tuples(st.integers(1, 4))),
    st.just(("VACUUM", ())),
    st.just(("PRAGMA wal_checkpoint(PASSIVE)", ())),
    st.just(("PRAGMA wal_checkpoint(RESTART)", ())),
)


def soon() -> float:
    return time.monotonic() + 60


def all_of(connection: sqlite3.Connection) -> list[Any]:
    return connection.execute("SELECT rowid, text FROM things ORDER BY rowid").fetchall()


@settings(max_examples=examples(40))
@given(st.lists(STATEMENTS, max_size=12), st.sampled_from([512, 4_096, 65_536]), st.booleans())
def test_a_copy_has_what_was_finished_and_nothing_else(
    statements: list[Statement], size: int, has_more_under_way: bool
) -> None:
    path = Path(mkdtemp(), "store.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {size}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE things (text)")
        for statement, values in statements:
            connection.execute(statement, values)
        wanted = all_of(connection)
        if has_more_under_way:  # so much that some of it is in the log before it is finished
            connection.execute("PRAGMA cache_size = 1")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO things (text) VALUES (zeroblob(?))", [(5_000,)] * 20)
        with closing(connection_to_copy(path, soon())) as copy:
            assert all_of(copy) == wanted
            assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("page_size", [512, 4_096, 65_536])
def test_a_page_that_was_not_written_to_its_end_is_not_taken(tmp_path: Path, page_size: int) -> None:
    path, log = tmp_path / "store.db", tmp_path / "store.db-wal"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {page_size}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE things (text)")
        connection.execute("INSERT INTO things (text) VALUES ('before')")
        before = log.stat().st_size
        connection.execute("INSERT INTO things (text) VALUES ('halted')")
        data, changes = path.read_bytes(), bytearray(log.read_bytes())
    assert len(changes) > before
    for lost in (range(len(changes) - page_size, len(changes)), range(before + 16, before + 24)):
        halted = changes.copy()
        for place in lost:
            halted[place] ^= 0xFF
        with closing(sqlite3.connect(":memory:")) as copy:
            copy.deserialize(with_changes(data, bytes(halted), soon()))
            assert all_of(copy) == [(1, "before")]


def test_one_that_is_written_to_meanwhile_is_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE things (text)")
    opened, times = os.open, 0

    def written_to(*args: Any) -> int:
        nonlocal times
        times += 1
        os.utime(path, ns=(times, times))
        return opened(*args)

    monkeypatch.setattr(os, "open", written_to)
    with pytest.raises(OSError, match="goes on to write to it"):
        connection_to_copy(path, soon())
    assert times == 2


def test_one_that_takes_too_long_or_is_no_plain_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE things (text)")
    with pytest.raises(OSError, match="takes too long"):
        connection_to_copy(path, time.monotonic() - 1)
    os.mkfifo(tmp_path / "store.db-wal")
    with pytest.raises(OSError, match="no plain file"):
        connection_to_copy(path, soon())


def test_a_log_that_is_long_is_gone_through_until_the_deadline_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE things (text)")
        data, log = path.read_bytes(), path.with_name("store.db-wal").read_bytes()
    assert with_changes(data, log, soon())
    with pytest.raises(OSError, match="too long"):
        with_changes(data, log, time.monotonic() - 1)
