"""Copying what can still be read of a damaged file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from gemini_companion.adapters.storage.search import index_entry, index_title
from gemini_companion.engine.history.log import decode_entry

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

_TABLES: Final = {
    "sessions": ("session_id", "title", "updated_at", "meta"),
    "log": ("session_id", "seq", "id", "type", "time", "json"),
    "damaged_entries": ("session_id", "seq", "json"),
    "leases": ("session_id", "instance", "machine", "pid", "started", "heartbeat"),
    "event_numbers": ("session_id", "next", "gone_to"),
}
"""Tables that are copied as they are. Events are only for replay, and the index is rebuilt."""

_OLD_NAMES: Final = {"log": "entries"}
"""What version 0.1 called a table."""


def salvage(broken: str, connection: sqlite3.Connection) -> tuple[int, int]:
    """Copy the readable rows of the file `broken` into the empty tables of `connection`.

    Returns the numbers of sessions and of entries.
    """
    import sqlite3

    counts: dict[str, int] = {}
    connection.execute("BEGIN IMMEDIATE")
    source: sqlite3.Connection | None = None
    try:
        with suppress(sqlite3.DatabaseError):
            source = sqlite3.connect(f"file:{_quoted(broken)}?mode=ro", uri=True, isolation_level=None)
            source.text_factory = connection.text_factory
        for table, columns in _TABLES.items():
            marks = ", ".join("?" * len(columns))
            rows = _readable_rows(source, _name_in(source, table), columns) if source else iter(())
            counts[table] = connection.executemany(
                f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows
            ).rowcount
        _index(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        if source is not None:
            source.close()
    return max(0, counts["sessions"]), max(0, counts["log"])


def _name_in(source: sqlite3.Connection, table: str) -> str:
    """The table's name in the damaged file, which an earlier version may have written."""
    import sqlite3

    try:
        source.execute(f"SELECT 1 FROM {table} LIMIT 1")
    except sqlite3.OperationalError:
        return _OLD_NAMES.get(table, table)
    except sqlite3.DatabaseError:
        return table
    return table


def _readable_rows(source: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Rows from the front until one cannot be read, then from the back."""
    import sqlite3

    names = ", ".join(columns)
    last = -1
    try:
        for row in source.execute(f"SELECT rowid, {names} FROM {table} NOT INDEXED ORDER BY rowid"):
            last = row[0]
            yield row[1:]
    except sqlite3.DatabaseError:
        _log.warning("The table %s of the damaged store cannot be read past row %d.", table, last)
        with suppress(sqlite3.DatabaseError):
            for row in source.execute(
                f"SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid DESC", (last,)
            ):
                yield row[1:]


def _index(connection: sqlite3.Connection) -> None:
    for session_id, title in connection.execute("SELECT session_id, title FROM sessions").fetchall():
        index_title(connection, session_id, title)
    for session_id, data in connection.execute("SELECT session_id, json FROM log"):
        try:
            entry = decode_entry(data)
        except ValueError:
            continue
        index_entry(connection, session_id, entry)


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)
