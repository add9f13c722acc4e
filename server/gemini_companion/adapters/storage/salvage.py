"""Whether a file is damaged, and copying what can still be read of one that is."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any, Final

import msgspec

from gemini_companion.adapters.private_files import create_private_file
from gemini_companion.adapters.storage.log_rows import insert_spans, spans_between, spans_of
from gemini_companion.adapters.storage.records import bare_meta
from gemini_companion.adapters.storage.schema import MIGRATIONS, migrate, version_of
from gemini_companion.sessions.ports import SessionMeta

_log = logging.getLogger(__name__)

_TABLES: Final = {
    "sessions": ("session_id", "title", "updated_at", "meta", "redacted"),
    "log": ("session_id", "seq", "id", "type", "time", "json", "redacted"),
    "damaged_entries": ("session_id", "seq", "json", "redacted"),
    "leases": ("session_id", "instance", "machine", "pid", "started", "heartbeat"),
    "event_numbers": ("session_id", "next", "gone_to"),
    "constraints": ("constraint_id", "json", "redacted"),
    "vault": ("id", "sealed"),
    "vault_uses": ("session_id", "id"),
    "versions": ("session_id", "turn_id", "digest"),
    "shares": ("session_id", "owner", "first", "last"),
    "spending": ("slot", "tokens", "micro_dollars"),
}
"""Tables that are copied as they are. Events are only for replay, the indexes are made anew."""

_DAMAGE: Final = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged file raises; the second where SQLite quotes the damage (`faults.result_code`)."""

_OLD_NAMES: Final = {"log": "entries"}
"""What version 0.1 called a table."""


def salvage(broken: str, connection: sqlite3.Connection, *, scratch: str) -> tuple[int, int, int]:
    """Copy the readable rows of the file `broken` into the empty tables of `connection`.

    `scratch` is the path of a copy that is made, and removed, where only what the file says of its tables is damaged.
    Returns the numbers of sessions, of entries, and of entries that are known to be lost, which are noted in
    `damaged_entries`.
    """
    counts: dict[str, int] = {}
    connection.execute("BEGIN IMMEDIATE")
    source: sqlite3.Connection | None = None
    try:
        with suppress(*_DAMAGE):
            source = _source(broken, connection, scratch)
        for table, columns in _TABLES.items():
            marks = ", ".join("?" * len(columns))
            rows = _readable_rows(source, _name_in(source, table), columns) if source else iter(())
            taken = connection.executemany(
                f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows
            )
            counts[table] = max(0, taken.rowcount)
        found, lost = _single_entries(source, _name_in(source, "log"), connection) if source else (0, 0)
        _tell_agents(connection)
        _tell_forks(connection)
        counts["sessions"] += _tell_sessions(connection)  # last: what forks share tells a deleted one from a lost one
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        if source is not None:
            source.close()
        _remove(scratch)
    return counts["sessions"], counts["log"] + found, lost


def _made_anew() -> sqlite3.Connection:
    """An empty database of the newest version, in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    return connection


def is_as_made(connection: sqlite3.Connection) -> bool:
    """Whether a file of the newest version has each table and index that this program makes, and their columns.

    One changed byte in what the file says of a table gives a column another name. Raises anything if that is damaged
    so that it cannot be read.
    """
    with closing(_made_anew()) as reference:
        return _columns(reference) <= _columns(connection)


def _columns(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Of each table the names of its columns, of each index its own."""
    found: set[tuple[str, str]] = set()
    for name, table, kind in connection.execute("SELECT name, tbl_name, type FROM sqlite_schema").fetchall():
        if kind == "table":
            found |= {
                (name, column) for (column,) in connection.execute("SELECT name FROM pragma_table_xinfo(?)", (name,))
            }
        else:
            found.add((table, name))
    return found


def _source(broken: str, connection: sqlite3.Connection, scratch: str) -> sqlite3.Connection:
    """The damaged file, for reading; a copy with the tables told anew where the file itself tells them wrongly.

    One byte of that is enough to lock away every row, and the rows are as they were.
    """
    source = _reader(broken, connection)
    try:
        if is_as_made(source) or version_of(source) != len(MIGRATIONS):
            return source
    except _DAMAGE:
        pass
    source.close()
    _remove(scratch)
    create_private_file(scratch)
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(broken + suffix, scratch + suffix)
    with suppress(*_DAMAGE):
        _tell_tables(scratch, connection)
        return _reader(scratch, connection)
    return _reader(broken, connection)


def _tell_tables(path: str, connection: sqlite3.Connection) -> None:
    """Write into a file what the empty one of `connection` says of its tables; where they begin stays as it is.

    Both had the same migrations in the same order, so what is the same table has the same row.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA writable_schema = ON")
        for _ in range(
            2
        ):  # the first statement fails where the tables cannot be understood, the next takes what is left
            with suppress(*_DAMAGE):
                copy.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if version_of(copy) != len(MIGRATIONS):
            return
        told = "SELECT type, name, tbl_name, sql, rowid FROM sqlite_schema"
        copy.executemany(
            "UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE rowid = ?",
            connection.execute(told),
        )


def _reader(path: str, connection: sqlite3.Connection) -> sqlite3.Connection:
    source = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, isolation_level=None)
    source.text_factory = connection.text_factory
    return source


def _remove(path: str) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.unlink(path + suffix)


def _name_in(source: sqlite3.Connection, table: str) -> str:
    """The table's name in the damaged file, which an earlier version may have written."""
    try:
        source.execute(f"SELECT 1 FROM {table} LIMIT 1")
    except sqlite3.OperationalError:
        return _OLD_NAMES.get(table, table)
    except _DAMAGE:
        return table
    return table


def _names_in(source: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> str:
    """The columns as they are to be selected: an earlier version has no `redacted`, and nothing is so there."""
    try:
        source.execute(f"SELECT redacted FROM {table} LIMIT 0")
    except sqlite3.OperationalError:
        return ", ".join("0 AS redacted" if column == "redacted" else column for column in columns)
    except _DAMAGE:
        pass
    return ", ".join(columns)


def _readable_rows(source: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Rows from the front until one cannot be read, then from the back."""
    names = _names_in(source, table, columns)
    last = -1
    try:
        for row in source.execute(f"SELECT rowid, {names} FROM {table} NOT INDEXED ORDER BY rowid"):
            last = row[0]
            yield row[1:]
    except _DAMAGE:
        _log.warning("The table %s of the damaged store cannot be read past row %d.", table, last)
        with suppress(*_DAMAGE):
            for row in source.execute(
                f"SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid DESC", (last,)
            ):
                yield row[1:]


def _single_entries(source: sqlite3.Connection, table: str, connection: sqlite3.Connection) -> tuple[int, int]:
    """Copy one by one the entries that the file's own index names and that are missing so far; returns how many could
    be read, and how many could not.
    """
    columns = ", ".join(_TABLES["log"])
    selected = _names_in(source, table, _TABLES["log"])
    known = set(connection.execute("SELECT session_id, seq FROM log"))
    keys: list[tuple[str, int]] = []
    with suppress(*_DAMAGE):
        keys.extend(
            key
            for key in source.execute(f"SELECT session_id, seq FROM {table} ORDER BY session_id, seq")
            if key not in known
        )
    found = 0
    for key in keys:
        try:
            row = source.execute(f"SELECT {selected} FROM {table} WHERE session_id = ? AND seq = ?", key).fetchone()
        except _DAMAGE:
            row = None
        if row is not None and row[:2] == key:
            connection.execute(f"INSERT OR IGNORE INTO log ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            found += 1
        else:
            connection.execute("INSERT OR IGNORE INTO damaged_entries (session_id, seq, json) VALUES (?, ?, x'')", key)
    return found, len(keys) - found


def _tell_sessions(connection: sqlite3.Connection) -> int:
    """Describe anew the sessions of which the description alone is lost; returns how many they are.

    Of one that was deleted there is only what forks share of its log.
    """
    lost = connection.execute(
        "SELECT session_id, min(time), max(time) FROM log WHERE typeof(session_id) = 'text' AND session_id NOT IN"
        " (SELECT session_id FROM sessions) AND (session_id IN (SELECT session_id FROM shares UNION SELECT session_id"
        " FROM event_numbers UNION SELECT session_id FROM leases) OR NOT EXISTS (SELECT 1 FROM shares WHERE owner ="
        " log.session_id AND seq BETWEEN first AND last)) GROUP BY session_id"
    ).fetchall()
    for session_id, first, last in lost:
        meta = SessionMeta(session_id=session_id, title="", model="", created_at=first, updated_at=last)
        connection.execute(
            "INSERT INTO sessions (session_id, title, updated_at, meta, redacted) VALUES (?, '', ?, ?, 0)",
            (session_id, last, msgspec.json.encode(meta)),
        )
    return len(lost)


def _tell_agents(connection: sqlite3.Connection) -> None:
    """Put the column that repeats a field of `meta` right; the damaged file may be of a version without it."""
    for session_id, data in connection.execute("SELECT session_id, CAST(meta AS BLOB) FROM sessions").fetchall():
        if (meta := bare_meta(data)) is not None and meta.agent is not None:
            connection.execute(
                "UPDATE sessions SET agent_of = ? WHERE session_id = ?", (meta.agent.session_id, session_id)
            )


def _tell_forks(connection: sqlite3.Connection) -> None:
    """Give forks of which it was lost what they share the entries of their parents ahead of their own.

    The oldest first, so that a fork of one gets them too.
    """
    forks: list[tuple[int, str, str]] = []
    for session_id, data in connection.execute("SELECT session_id, CAST(meta AS BLOB) FROM sessions").fetchall():
        if (meta := bare_meta(data)) is not None and meta.parent is not None:
            forks.append((meta.created_at, session_id, meta.parent))
    for _, session_id, parent in sorted(forks):
        (own,) = connection.execute("SELECT min(seq) FROM log WHERE session_id = ?", (session_id,)).fetchone()
        if own is not None and len(spans_of(connection, session_id)) == 1:
            insert_spans(connection, session_id, spans_between(connection, parent, 1, own - 1))


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)
