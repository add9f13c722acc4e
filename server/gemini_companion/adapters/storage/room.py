"""What stored sessions take, and removing those that leave for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gemini_companion.adapters.storage import records
from gemini_companion.adapters.storage.leases import Leases
from gemini_companion.adapters.storage.private_files import safe_name
from gemini_companion.sessions.retention import StoredSession

if TYPE_CHECKING:
    import sqlite3


def stored_sessions(connection: sqlite3.Connection, leases: Leases) -> list[StoredSession]:
    """Every session with the bytes of its log, those that a living process holds as open."""
    sizes: dict[str, int] = dict(
        connection.execute("SELECT session_id, SUM(LENGTH(json)) FROM log GROUP BY session_id")
    )
    rows = connection.execute("SELECT session_id, title, updated_at, meta FROM sessions")
    metas = [records.decode_meta(row) for row in rows]
    return [
        StoredSession(
            session_id=meta.session_id,
            updated_at=meta.updated_at,
            size=sizes.get(meta.session_id, 0),
            is_kept=meta.is_kept,
            is_open=leases.is_held(connection, meta.session_id),
        )
        for meta in metas
    ]


def with_files(stored: list[StoredSession], directory: str) -> list[StoredSession]:
    """The same with the bytes of their private files, which lie below `directory`. Blocks."""
    return [
        one._replace(size=one.size + _bytes_below(os.path.join(directory, safe_name(one.session_id)))) for one in stored
    ]


def delete_unused(connection: sqlite3.Connection, leases: Leases, one: StoredSession) -> bool:
    """Delete a session if it is as it was found: written no more since, neither opened nor kept; true if so."""
    row = connection.execute(
        "SELECT session_id, title, updated_at, meta FROM sessions WHERE session_id = ?", (one.session_id,)
    ).fetchone()
    if row is None or leases.is_held(connection, one.session_id):
        return False
    meta = records.decode_meta(row)
    if meta.is_kept or meta.updated_at != one.updated_at:
        return False
    records.delete_session(connection, one.session_id)
    return True


def _bytes_below(directory: str) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total
