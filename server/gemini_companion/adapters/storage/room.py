"""What stored sessions take, and removing those that leave for it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from gemini_companion.adapters.private_files import safe_name
from gemini_companion.adapters.storage import records
from gemini_companion.adapters.storage.leases import Leases
from gemini_companion.adapters.storage.log_rows import size_left_by_others
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.sessions.retention import StoredSession

if TYPE_CHECKING:
    import sqlite3


_ROWS_OF_A_STEP: Final = 2_000
"""Entries whose sizes are read at once, a millisecond or two."""


class _Measured(NamedTuple):
    sizes: dict[str, int]
    """Bytes of logs, by session."""
    left: Sequence[str]
    """Sessions that were not looked at yet."""


class Room:
    """What sessions take. A log only grows, so what was measured once is not read again."""

    def __init__(self, worker: Worker, leases: Leases, files: str) -> None:
        self._worker = worker
        self._leases = leases
        self._files = files
        """The folder of the sessions' private files."""
        self._known: dict[str, tuple[int, int]] = {}
        """By session, up to which entry its log is measured, and the bytes to there."""

    async def stored(self, sized: Collection[str] | None, *, alone: bool = False) -> list[StoredSession]:
        """Every session but those of subagents, which count for their chat and go with it.

        The sizes of those named in `sized` are measured and the others' 0; `None` measures all. With `alone` there are
        no others.
        """

        def begin(connection: sqlite3.Connection) -> tuple[list[StoredSession], dict[str, list[str]], _Measured]:
            found = _sessions(connection, self._leases, sized if alone else None)
            wanted = [one.session_id for one in found if sized is None or one.session_id in sized]
            agents = {one: records.agents_of(connection, one) for one in wanted}
            return found, agents, self._measure(connection, [*wanted, *itertools.chain(*agents.values())])

        found, agents, measured = await self._worker.run("read", begin)
        logs = measured.sizes
        while left := measured.left:  # in steps: nothing that is to be written waits for all of them
            measured = await self._worker.run("read", lambda connection, left=left: self._measure(connection, left))
            logs |= measured.sizes
        files = await self._worker.run_file(lambda: {name: _bytes_below(self._folder(name)) for name in logs})

        def size_of(chat: str) -> int:
            return sum(logs.get(one, 0) + files.get(one, 0) for one in (chat, *agents.get(chat, ())))

        return [one._replace(size=size_of(one.session_id)) for one in found]

    def _measure(self, connection: sqlite3.Connection, session_ids: Sequence[str]) -> _Measured:
        """The bytes of logs, one after the other until enough rows were read for one step, one log at least."""
        sizes: dict[str, int] = {}
        rows = 0
        for place, session_id in enumerate(session_ids):
            last, size = self._known.get(session_id, (0, 0))
            newest, count, more = connection.execute(
                "SELECT MAX(seq), COUNT(*), SUM(LENGTH(json)) FROM log WHERE session_id = ? AND seq > ?",
                (session_id, last),
            ).fetchone()
            if count:
                self._known[session_id] = newest, size + more
            sizes[session_id] = size + (more or 0) + size_left_by_others(connection, session_id)
            rows += count
            if rows >= _ROWS_OF_A_STEP:
                return _Measured(sizes, session_ids[place + 1 :])
        return _Measured(sizes, ())

    def _folder(self, session_id: str) -> str:
        return os.path.join(self._files, safe_name(session_id))


def _sessions(connection: sqlite3.Connection, leases: Leases, named: Collection[str] | None) -> list[StoredSession]:
    select = "SELECT session_id, updated_at, CAST(meta AS BLOB) FROM sessions WHERE agent_of IS NULL"
    if named is None:
        rows = connection.execute(select).fetchall()
    else:
        found = (connection.execute(f"{select} AND session_id = ?", (one,)).fetchone() for one in named)
        rows = [row for row in found if row is not None]
    held = leases.held(connection)
    return [
        StoredSession(
            session_id=session_id,
            updated_at=updated_at,
            size=0,
            is_kept=(meta := records.bare_meta(data)) is not None and meta.is_kept,
            is_open=session_id in held,
        )
        for session_id, updated_at, data in rows
    ]


def delete_unused(connection: sqlite3.Connection, leases: Leases, one: StoredSession) -> list[str]:
    """Delete a session if it is as it was found: written no more since, neither opened nor kept.

    Returns what was deleted: its id and those of its subagents, or nothing.
    """
    row = connection.execute(
        "SELECT updated_at, CAST(meta AS BLOB) FROM sessions WHERE session_id = ?", (one.session_id,)
    ).fetchone()
    if row is None or leases.is_held(connection, one.session_id):
        return []
    updated_at, data = row
    meta = records.bare_meta(data)
    if updated_at != one.updated_at or (meta is not None and meta.is_kept):
        return []
    agents = records.agents_of(connection, one.session_id)
    if any(leases.is_held(connection, agent) for agent in agents):
        return []
    records.delete_session(connection, one.session_id)
    return [one.session_id, *agents]


def _bytes_below(directory: str) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total
