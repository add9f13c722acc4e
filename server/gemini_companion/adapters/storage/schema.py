"""The tables, as migrations that are only ever added to. `PRAGMA user_version` says how many a file has had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from gemini_companion.engine.errors import StorageFault

if TYPE_CHECKING:
    import sqlite3

Migration: TypeAlias = tuple[str, ...]
"""Statements, run in one transaction."""

MIGRATIONS: Final[tuple[Migration, ...]] = (
    (
        # `title` and `updated_at` repeat what `meta` (a SessionMeta as JSON) says, for ordering and for the case that it is damaged.
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, updated_at INTEGER NOT NULL, meta BLOB NOT NULL)""",
        "CREATE INDEX sessions_by_time ON sessions (updated_at, session_id)",
        """CREATE TABLE entries (
            session_id TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL,
            json BLOB NOT NULL, PRIMARY KEY (session_id, seq))""",
        # Rows that can no longer be decoded and stood in the way of new ones. Kept for whoever may read them one day.
        "CREATE TABLE damaged_entries (session_id TEXT NOT NULL, seq INTEGER NOT NULL, json BLOB NOT NULL)",
        """CREATE TABLE leases (
            session_id TEXT PRIMARY KEY NOT NULL, instance TEXT NOT NULL, machine TEXT NOT NULL, pid INTEGER NOT NULL,
            started TEXT NOT NULL, heartbeat INTEGER NOT NULL)""",
        # The next number to give out, and the highest one whose event is no longer kept.
        """CREATE TABLE event_numbers (
            session_id TEXT PRIMARY KEY NOT NULL, next INTEGER NOT NULL, gone_to INTEGER NOT NULL DEFAULT 0)""",
        """CREATE TABLE events (
            session_id TEXT NOT NULL, seq INTEGER NOT NULL, json BLOB NOT NULL, PRIMARY KEY (session_id, seq))""",
        # One row of `texts` (by rowid) per title (seq 0) and per entry that says something.
        "CREATE TABLE documents (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL)",
        "CREATE UNIQUE INDEX documents_by_entry ON documents (session_id, seq)",
        "CREATE VIRTUAL TABLE texts USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2')",
    ),
)

TABLES: Final = ("sessions", "entries", "damaged_entries", "leases", "event_numbers", "events", "documents")
"""Every table but the full-text index `texts`, all with a column `session_id`."""


def version_of(connection: sqlite3.Connection) -> int:
    """How many migrations the file has had."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def check_version(connection: sqlite3.Connection, path: str, *, newest: int = len(MIGRATIONS)) -> None:
    """Raise `StorageFault` for a file of a later version than ours, which is then left as it is."""
    version = version_of(connection)
    if version > newest:
        raise StorageFault(
            f"{path} was written by a newer gemini-companion (store version {version}; this one knows {newest}).",
            hint="Update gemini-companion, or set COMPANION_DATA_DIR to another folder. The file was not touched.",
        )


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the file forward, one transaction per version; another process may be doing the same."""
    for version, statements in enumerate(migrations, start=1):
        if version_of(connection) >= version:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version_of(connection) < version:
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
