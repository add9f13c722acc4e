"""What the logs of a chat's subagents say, as rows. Every function runs within the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from gemini_companion.adapters.storage.log_rows import log_rows
from gemini_companion.adapters.storage.records import (
    ENTRY_COLUMNS,
    META_COLUMNS,
    agents_of,
    bare_meta_of,
    decode_meta,
    decoded_rows,
)
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.ports import LoggedChanges, SessionMeta

if TYPE_CHECKING:
    import sqlite3


def forked_from(session_id: str, meta_of: Callable[[str], SessionMeta | None]) -> list[str]:
    """The sessions that one was forked from, the nearest first, as far as they are known."""
    found: dict[str, None] = {}
    meta = meta_of(session_id)
    while meta is not None and meta.parent is not None and meta.parent not in found:
        found[meta.parent] = None
        meta = meta_of(meta.parent)
    return list(found)


def changes_beside(
    connection: sqlite3.Connection,
    vaulted: Vaulted,
    session_id: str,
    after: Mapping[str, int],
    turns: Collection[str],
) -> list[LoggedChanges]:
    """See `SessionStore.changes_beside`; without holders."""
    of_agents = f"SELECT {META_COLUMNS} FROM sessions WHERE agent_of = ?1"
    rows = connection.execute(
        f"{of_agents} OR session_id = (SELECT agent_of FROM sessions WHERE session_id = ?1)", (session_id,)
    ).fetchall()
    metas = [decode_meta(connection, vaulted, row) for row in rows]
    for one in forked_from(session_id, lambda one: bare_meta_of(connection, one)):
        known = (decode_meta(connection, vaulted, row) for row in connection.execute(of_agents, (one,)).fetchall())
        metas += [meta for meta in known if meta.agent is not None and meta.agent.turn_id in turns]
    return [
        LoggedChanges(
            meta=meta,
            entries=_of_types(connection, vaulted, meta.session_id, "'change', 'kept'", after.get(meta.session_id, 0)),
        )
        for meta in metas
    ]


def logged_by_agents(connection: sqlite3.Connection, vaulted: Vaulted, session_id: str) -> list[Entry]:
    """See `AgentsLog.logged_by_agents`."""
    logs = (
        _of_types(connection, vaulted, one, "'modelCall', 'change'", 0) for one in agents_of(connection, session_id)
    )
    return [entry for log in logs for entry in log]


def _of_types(
    connection: sqlite3.Connection, vaulted: Vaulted, session_id: str, types: str, after: int
) -> tuple[Entry, ...]:
    """The entries behind a number that have one of these types, quoted; without those that are damaged."""
    rows = log_rows(connection, session_id, ENTRY_COLUMNS, first=after + 1, condition=f"type IN ({types})")
    return tuple(entry for entry, _ in decoded_rows(connection, vaulted, session_id, rows, []))
