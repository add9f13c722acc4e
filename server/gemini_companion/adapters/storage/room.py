"""What stored sessions take, and removing those that leave for it."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from gemini_companion.adapters.private_files import safe_name
from gemini_companion.adapters.storage import records
from gemini_companion.adapters.storage.leases import Leases
from gemini_companion.adapters.storage.log_rows import END, Span, heirs, left_by_others
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.engine.errors import StorageFault
from gemini_companion.sessions.retention import StoredSession
from gemini_companion.sessions.threads import Poll, in_thread

if TYPE_CHECKING:
    import sqlite3


_ROWS_OF_A_STEP: Final = 2_000
"""Entries whose sizes are read at once, a millisecond or two."""
_MOST_KNOWN: Final = 100_000
"""Sessions whose sizes are remembered."""
_AMONG: Final = "FROM log WHERE session_id = ? AND seq BETWEEN ? AND ?"


class _Measured(NamedTuple):
    sizes: dict[str, int]
    """Bytes of logs, by session."""
    left: Sequence[str]
    """Sessions that were not looked at yet."""


class _Read(NamedTuple):
    size: int
    rows: int
    """How many were read for it."""
    is_whole: bool


class Room:
    """What sessions take. A log only grows, so what was measured once is not read again."""

    def __init__(self, worker: Worker, leases: Leases, files: str) -> None:
        self._worker = worker
        self._leases = leases
        self._files = files
        """The folder of the sessions' private files."""
        self._known: dict[Span, tuple[int, int]] = {}
        """Up to which entry rows are measured, and the bytes to there. A session that is written again under an id that
        was deleted counts from there on: none is.
        """
        self._one_at_a_time = asyncio.Lock()
        self._walking: asyncio.Task[dict[str, int]] | None = None
        """What looks at private files, in a thread of its own: nobody's write waits for a slow disk."""
        self._is_closed = False

    async def stored(self, sized: Collection[str] | None, *, alone: bool = False) -> list[StoredSession]:
        """Every session but those of subagents, which count for their chat and go with it.

        The sizes of those named in `sized` are measured and the others' 0; `None` measures all. With `alone` there are
        no others.
        """

        def begin(connection: sqlite3.Connection) -> tuple[list[StoredSession], dict[str, list[str]], _Measured]:
            found = _sessions(connection, self._leases, sized if alone else None)
            wanted = [one.session_id for one in found if sized is None or one.session_id in sized]
            agents = records.agents_by_chat(connection, wanted)
            return found, agents, self._measure(connection, [*wanted, *itertools.chain(*agents.values())])

        found, agents, measured = await self._worker.run("read", begin)
        sizes = measured.sizes
        every = [*sizes, *measured.left]
        while left := measured.left:  # in steps: nothing that is to be written waits for all of them
            measured = await self._worker.run("read", lambda connection, left=left: self._measure(connection, left))
            sizes |= measured.sizes
        files = await self._bytes_of_files(every) if every else {}

        def size_of(chat: str) -> int:
            return sum(sizes.get(one, 0) + files.get(one, 0) for one in (chat, *agents.get(chat, ())))

        return [one._replace(size=size_of(one.session_id)) for one in found]

    async def close(self) -> None:
        """Look at no more files. Whoever waits for that gets a `StorageFault`."""
        self._is_closed = True
        if self._walking is not None:
            self._walking.cancel()
            await asyncio.wait({self._walking})

    async def _bytes_of_files(self, session_ids: Sequence[str]) -> dict[str, int]:
        """The bytes of private files by session, of those that have any; one walk over the disk at a time."""
        async with self._one_at_a_time:
            if not self._is_closed:
                walk = in_thread(lambda poll: _bytes_by_session(self._files, session_ids, poll))
                self._walking = walking = asyncio.create_task(walk, name="measuring private files")
                try:
                    await asyncio.wait({walking})
                finally:
                    walking.cancel()  # of no effect once it is done
                    self._walking = None
                if not walking.cancelled():
                    return walking.result()
        raise StorageFault("The session store is closed.", hint="Start gemini-companion again.")

    def _measure(self, connection: sqlite3.Connection, session_ids: Sequence[str]) -> _Measured:
        """The bytes of sessions, one after the other until enough rows were read for one step.

        Of one that has more rows than that, and of which little is known, the rest is read with the next step.
        """
        sizes: dict[str, int] = {}
        budget, have_left = _ROWS_OF_A_STEP, heirs(connection)
        newest = _newest_rows(connection, session_ids[:budget])
        for place, session_id in enumerate(session_ids):
            whole = Span(session_id, 1, END)
            known = self._known.get(whole)
            if known is not None and known[0] == newest.get(session_id) and session_id not in have_left:
                sizes[session_id] = known[1]
                continue
            spans = [
                whole,
                *(left_by_others(connection, session_id) if session_id in have_left else ()),
            ]
            size = 0
            for span in spans:
                read = self._read(connection, span, budget)
                budget -= read.rows
                size += read.size
                if not read.is_whole:
                    return _Measured(sizes, session_ids[place:])
            sizes[session_id] = size
            budget -= 1
            if budget <= 0:
                return _Measured(sizes, session_ids[place + 1 :])
        return _Measured(sizes, ())

    def _read(self, connection: sqlite3.Connection, span: Span, most: int) -> _Read:
        """The bytes of rows, those known from before included; so many rows are read at most."""
        last, size = self._known.get(span, (span.first - 1, 0))
        among = (span.owner, last + 1, span.last)
        (newest,) = connection.execute(f"SELECT MAX(seq) {_AMONG}", among).fetchone()
        if newest is None:  # nothing was written since
            return _Read(size, 0, is_whole=True)
        rows, newest, more = connection.execute(
            f"SELECT COUNT(*), MAX(seq), SUM(size) FROM (SELECT seq, LENGTH(json) size {_AMONG} ORDER BY seq LIMIT ?)",
            (*among, max(1, most)),
        ).fetchone()
        if len(self._known) >= _MOST_KNOWN and span not in self._known:
            self._known.clear()
        self._known[span] = newest, size + more
        return _Read(size + more, rows, is_whole=rows < max(1, most))


def _newest_rows(connection: sqlite3.Connection, session_ids: Sequence[str]) -> dict[str, int]:
    """The newest row of each session, asked for together: one by one that takes longer than all else of a listing."""
    found: dict[str, int] = {}
    for start in range(0, len(session_ids), records.MOST_AT_ONCE):
        some = session_ids[start : start + records.MOST_AT_ONCE]
        found |= connection.execute(
            "SELECT session_id, (SELECT MAX(seq) FROM log WHERE log.session_id = sessions.session_id) FROM sessions"
            f" WHERE session_id IN ({records.places(some)})",
            some,
        ).fetchall()
    return found


def _sessions(connection: sqlite3.Connection, leases: Leases, named: Collection[str] | None) -> list[StoredSession]:
    select = (
        "SELECT session_id, updated_at, CAST(meta AS BLOB), EXISTS (SELECT 1 FROM leases"
        " WHERE leases.session_id = sessions.session_id AND instance = ?) FROM sessions WHERE agent_of IS NULL"
    )
    mine = leases.instance
    if named is None:
        rows = connection.execute(select, (mine,)).fetchall()
    else:
        ids, most = list(named), records.MOST_AT_ONCE
        pages = [ids[start : start + most] for start in range(0, len(ids), most)]
        rows = [
            row
            for page in pages
            for row in connection.execute(
                f"{select} AND session_id IN ({records.places(page)})", (mine, *page)
            ).fetchall()
        ]
    others = leases.holders(connection, [row[0] for row in rows])
    return [
        StoredSession(
            session_id=session_id,
            updated_at=updated_at,
            size=0,
            is_kept=(meta := records.bare_meta(data)) is not None and meta.is_kept,
            is_open=bool(is_mine) or session_id in others,
        )
        for session_id, updated_at, data, is_mine in rows
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


def _bytes_by_session(files: str, session_ids: Sequence[str], poll: Poll) -> dict[str, int]:
    try:
        folders = frozenset(os.listdir(files))
    except OSError:
        return {}
    return {
        session_id: _bytes_below(os.path.join(files, folder), poll)
        for session_id in session_ids
        if (folder := safe_name(session_id)) in folders
    }


def _bytes_below(directory: str, poll: Poll) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        poll()
        for name in names:
            poll()
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total
