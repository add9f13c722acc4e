"""Events stored for replay, and their numbers. Every function runs within the caller's transaction."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from gemini_companion.adapters.storage.leases import require_session
from gemini_companion.engine.history.version_0_1 import MARK, upgraded_event
from gemini_companion.sessions.ports import StoredEvent, StoredEvents

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

KEPT_EVENTS: Final = 20_000
"""Approximately, per session; the oldest are deleted first."""

PRUNE_EVERY: Final = 1_000
"""How many more there may be before they are deleted."""


def reserve(connection: sqlite3.Connection, session_id: str, count: int) -> int:
    """Reserve `count` numbers that were never reserved before; returns the first. Raises `SessionNotFound`."""
    require_session(connection, session_id)
    row = connection.execute("SELECT next FROM event_numbers WHERE session_id = ?", (session_id,)).fetchone()
    first = int(row[0]) if row else 1
    connection.execute(
        "INSERT INTO event_numbers (session_id, next) VALUES (?, ?) ON CONFLICT (session_id) DO UPDATE SET next ="
        " excluded.next",
        (session_id, first + count),
    )
    return first


class EventKeeper:
    """Stores events, and deletes the oldest from time to time."""

    def __init__(self) -> None:
        self._since_pruning: dict[str, int] = {}

    def save(self, connection: sqlite3.Connection, events: Sequence[StoredEvent]) -> None:
        """Store events. Those of a deleted session are dropped; of two with one number the first is kept."""
        for session_id in dict.fromkeys(event.session_id for event in events):
            if connection.execute("SELECT 1 FROM sessions WHERE session_id = ?", (session_id,)).fetchone() is None:
                continue
            rows = [
                (session_id, event.seq, msgspec.json.encode(event))
                for event in events
                if event.session_id == session_id
            ]
            connection.executemany("INSERT OR IGNORE INTO events (session_id, seq, json) VALUES (?, ?, ?)", rows)
            count = self._since_pruning.get(session_id, PRUNE_EVERY) + len(rows)
            self._since_pruning[session_id] = 0 if count >= PRUNE_EVERY else count
            if count >= PRUNE_EVERY:
                _prune(connection, session_id)


def read(connection: sqlite3.Connection, session_id: str, after_seq: int, limit: int) -> StoredEvents:
    """The stored events past `after_seq`, at most `limit`. Raises `SessionNotFound`."""
    require_session(connection, session_id)
    rows = connection.execute(
        "SELECT seq, json FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (session_id, after_seq, limit + 1),
    ).fetchall()
    (gone_to,) = connection.execute(
        "SELECT coalesce(max(gone_to), 0) FROM event_numbers WHERE session_id = ?", (session_id,)
    ).fetchone()
    is_truncated = len(rows) > limit or gone_to > after_seq
    events: list[StoredEvent] = []
    for seq, data in rows[:limit]:
        try:
            events.append(_decoded(data))
        except ValueError as fault:
            _log.warning("Event %d of session %s is damaged and is left out: %s", seq, session_id, fault)
            is_truncated = True
    return StoredEvents(events=tuple(events), truncated=is_truncated)


def _decoded(data: bytes | str) -> StoredEvent:
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    stored = msgspec.json.decode(data, type=StoredEvent)
    return msgspec.structs.replace(stored, event=upgraded_event(stored.event)) if MARK in data else stored


def mark_gone(connection: sqlite3.Connection, session_id: str, seq: int) -> None:
    """Note that not all events up to `seq` are stored."""
    connection.execute(
        """INSERT INTO event_numbers (session_id, next, gone_to) VALUES (?, ?, ?)
        ON CONFLICT (session_id) DO UPDATE SET gone_to = max(gone_to, excluded.gone_to)""",
        (session_id, seq + 1, seq),
    )


def _prune(connection: sqlite3.Connection, session_id: str) -> None:
    row = connection.execute(
        "SELECT seq FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?", (session_id, KEPT_EVENTS)
    ).fetchone()
    if row is not None:
        connection.execute("DELETE FROM events WHERE session_id = ? AND seq <= ?", (session_id, row[0]))
        mark_gone(connection, session_id, int(row[0]))
