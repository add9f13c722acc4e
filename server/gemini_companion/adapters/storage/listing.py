"""Pages of a listing of sessions, within the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage import records, search
from gemini_companion.adapters.storage.paging import decode_cursor
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.sessions.ports import SessionMeta

if TYPE_CHECKING:
    import sqlite3

_MAX_PAGE: Final = 500

Page = tuple[list[SessionMeta], bool]
"""Sessions, newest first, without their holders; and whether there are more."""


def page_of(
    vaulted: Vaulted, query: str, limit: int, cursor: str | None, *, with_agents: bool
) -> Callable[[sqlite3.Connection], Page]:
    """What reads a page, of 500 at most. Raises `InvalidInput` for a cursor of another origin."""
    size = min(max(limit, 1), _MAX_PAGE)
    clauses, arguments = search.conditions(query)
    values: list[str | int] = [*arguments]
    if not with_agents:
        clauses.append("+agent_of IS NULL")  # by its index all of them would be read, and sorted, for one page
    if cursor is not None:
        clauses.append("(updated_at, session_id) < (?, ?)")
        values += decode_cursor(cursor)
    where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
    select = f"SELECT {records.META_COLUMNS} FROM sessions {where} ORDER BY updated_at DESC, session_id DESC LIMIT ?"

    def read(connection: sqlite3.Connection) -> Page:
        rows = connection.execute(select, [*values, size + 1]).fetchall()
        return [records.decode_meta(connection, vaulted, row) for row in rows[:size]], len(rows) > size

    return read
