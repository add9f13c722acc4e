"""What the sessions of a project have spent, by the quarter of an hour. Every function runs within the caller's
transaction, so that log and sum cannot differ, and all daemons of a store add to the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.statistics.spending import SLOT_MS, Spent, spent_on

if TYPE_CHECKING:
    import sqlite3


def add_spending(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    """Add what new entries say was spent. It stays if their session is deleted."""
    rows = [(entry.time // SLOT_MS, *spent) for entry in entries if any(spent := spent_on(entry))]
    connection.executemany(
        "INSERT INTO spending (slot, tokens, micro_dollars) VALUES (?, ?, ?) ON CONFLICT (slot) DO UPDATE SET"
        " tokens = tokens + excluded.tokens, micro_dollars = micro_dollars + excluded.micro_dollars",
        rows,
    )


def spent_since(connection: sqlite3.Connection, time: int) -> Spent:
    """What was spent from this time on, in ms since 1970; the beginning of a quarter of an hour."""
    (tokens, micro_dollars) = connection.execute(
        "SELECT total(tokens), total(micro_dollars) FROM spending WHERE slot >= ?", (time // SLOT_MS,)
    ).fetchone()
    return Spent(int(tokens), int(micro_dollars))
