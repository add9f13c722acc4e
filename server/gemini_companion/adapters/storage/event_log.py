"""Events stored for replay, and their numbers. Every function runs within the caller's transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from gemini_companion.adapters.storage.leases import require_session
from gemini_companion.engine.history.version_0_1 import MARK, upgraded_event
from gemini_companion.sessions.ports import StoredEvent, StoredEvents

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.vault.vault import Vault

_log = logging.getLogger(__name__)

KEPT_EVENTS: Final = 20_000
"""Approximately, per session; the oldest are deleted first."""

PRUNE_EVERY: Final = 1_000
"""How many more there may be before they are deleted."""

_PURPOSE: Final = "event"


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
    """Stores events, and deletes the oldest from time to time.

    With a vault each is closed as a whole: a secret may be split over the pieces of an answer or of an output. One that
    cannot be closed, or opened, is as one that is gone.
    """

    def __init__(self, vault: Vault | None = None) -> None:
        self._vault = vault
        self._since_pruning: dict[str, int] = {}

    def save(self, connection: sqlite3.Connection, events: Sequence[StoredEvent]) -> None:
        """Store events. Those of a deleted session are dropped; of two with one number the first is kept."""
        for session_id in dict.fromkeys(event.session_id for event in events):
            if connection.execute("SELECT 1 FROM sessions WHERE session_id = ?", (session_id,)).fetchone() is None:
                continue
            rows: list[tuple[str, int, bytes]] = []
            for event in events:
                if event.session_id == session_id:
                    data = self.closed(msgspec.json.encode(event))
                    if data is None:
                        mark_gone(connection, session_id, event.seq)
                    else:
                        rows.append((session_id, event.seq, data))
            connection.executemany("INSERT OR IGNORE INTO events (session_id, seq, json) VALUES (?, ?, ?)", rows)
            count = self._since_pruning.get(session_id, PRUNE_EVERY) + len(rows)
            self._since_pruning[session_id] = 0 if count >= PRUNE_EVERY else count
            if count >= PRUNE_EVERY:
                _prune(connection, session_id)

    def closed(self, data: bytes) -> bytes | None:
        """The JSON of an event as it is stored; `None` if it cannot be closed."""
        return data if self._vault is None else self._vault.sealed(data, _PURPOSE)

    def _opened(self, data: bytes | str) -> StoredEvent:
        raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        opened = raw if self._vault is None else self._vault.unsealed(raw, _PURPOSE)
        if opened is None:
            raise ValueError("its key cannot be had")
        return _decoded(opened)

    def read(self, connection: sqlite3.Connection, session_id: str, after_seq: int, limit: int) -> StoredEvents:
        """The stored events past `after_seq`, at most `limit`. Raises `SessionNotFound`."""
        return _read(connection, session_id, after_seq, limit, self._opened)


def _read(
    connection: sqlite3.Connection,
    session_id: str,
    after_seq: int,
    limit: int,
    decoded: Callable[[bytes | str], StoredEvent],
) -> StoredEvents:
    require_session(connection, session_id)
    (gone_to,) = connection.execute(
        "SELECT coalesce(max(gone_to), 0) FROM event_numbers WHERE session_id = ?", (session_id,)
    ).fetchone()
    is_truncated = gone_to > after_seq
    events: list[StoredEvent] = []
    damaged: list[int] = []
    has_more, why = True, ""
    while has_more and not events:  # there may be many whose key is gone, and none of them is the end
        rows = connection.execute(
            "SELECT seq, CAST(json AS BLOB) FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            (session_id, after_seq, limit + 1),
        ).fetchall()
        has_more = len(rows) > limit
        for seq, data in rows[:limit]:
            after_seq = int(seq)
            try:
                events.append(decoded(data))
            except ValueError as fault:
                damaged.append(after_seq)
                why = str(fault)
    if damaged:
        what = "%d events of session %s, the first of them number %d, cannot be read and are left out: %s"
        _log.warning(what, len(damaged), session_id, damaged[0], why)
    is_truncated = is_truncated or has_more or bool(damaged)
    return StoredEvents(events=tuple(events), truncated=is_truncated)


def _decoded(data: bytes) -> StoredEvent:
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
