"""The full-text indexes: which words stand where. They have no copies of the texts, which are in the log already.

Such an index takes a text out again by being told it once more, word for word. So everything that is taken out is read
from the log, before that changes; and where it cannot be read any more, the indexes are made anew (`Unreadable`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import sqlite3

Index = Literal["texts", "recall"]
"""`texts` finds sessions by words and beginnings of words, `recall` passages by stems."""

INDEXES: tuple[Index, ...] = ("texts", "recall")


class Unreadable(Exception):
    """A text that is to be taken out is not in the log as it was when it was put in."""


def put_in(connection: sqlite3.Connection, index: Index, rows: Iterable[tuple[int, str]]) -> None:
    """Add texts, each under a number that has none."""
    connection.executemany(f"INSERT INTO {index} (rowid, body) VALUES (?, ?)", rows)


def take_out(connection: sqlite3.Connection, index: Index, rows: Iterable[tuple[int, str]]) -> None:
    """Remove texts: exactly those that were put in under these numbers."""
    connection.executemany(f"INSERT INTO {index} ({index}, rowid, body) VALUES ('delete', ?, ?)", rows)


def make_empty(connection: sqlite3.Connection, index: Index) -> None:
    """Remove everything, also of a damaged index."""
    (statement,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (index,)).fetchone()
    connection.execute(f"DROP TABLE {index}")
    connection.execute(statement)


def is_whole(connection: sqlite3.Connection, table: str) -> bool:
    """Whether a table can be read from end to end, and its indexes say the same."""
    import sqlite3

    try:
        return connection.execute(f"PRAGMA integrity_check ({table})").fetchall() == [("ok",)]
    except sqlite3.DatabaseError:
        return False
