"""Leases: which process may write a session.

A lease names its holder by machine, process id, start time and a random instance id, and carries the time of its last
heartbeat. It is stale when the holder is dead, or when the holder cannot be proved alive and was watched for 30 seconds
without renewing it. What its heartbeat says beside the clock here proves nothing: either clock may be wrong. Every
write checks the instance id in its own transaction, so a process that lost a lease can never write again by mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from gemini_companion.adapters.storage.process import ProcessIdentity, ProcessTable
from gemini_companion.engine.errors import SessionBusy, SessionNotFound

if TYPE_CHECKING:
    import sqlite3

STALE_SECONDS: Final = 30.0
"""How long a lease without a provably living holder has to be watched without a heartbeat until it is stale."""

_HINT = "Fork the session, or take it over."


class _Watched(NamedTuple):
    """A lease whose holder may be alive or not, as it was first seen."""

    instance: str
    heartbeat: int
    since: float
    """Seconds on the monotonic clock."""


class Leases:
    """The leases as one instance of the store sees them. `instance` is unique to this store. `now` is ms since 1970,
    `monotonic` gives seconds.
    """

    def __init__(self, instance: str, processes: ProcessTable, monotonic: Callable[[], float]) -> None:
        self.instance = instance
        self._processes = processes
        self._monotonic = monotonic
        self._watched: dict[str, _Watched] = {}
        self._me: ProcessIdentity | None = None

    def take(self, connection: sqlite3.Connection, session_id: str, now: int, *, take_over: bool = False) -> int:
        """Take the session's lease; returns the last heartbeat of a holder that did not give it back, else 0.

        Raises `SessionNotFound`, or `SessionBusy` unless `take_over`.
        """
        require_session(connection, session_id)
        if not take_over:
            self.require_free(connection, session_id)
        before = connection.execute(
            "SELECT heartbeat FROM leases WHERE session_id = ? AND instance != ?", (session_id, self.instance)
        ).fetchone()
        me = self._me = self._me or self._processes.me()
        connection.execute(
            "INSERT OR REPLACE INTO leases (session_id, instance, machine, pid, started, heartbeat) VALUES (?, ?, ?, ?,"
            " ?, ?)",
            (session_id, self.instance, me.machine, me.pid, me.started, now),
        )
        return int(before[0]) if before is not None else 0

    def require_held(self, connection: sqlite3.Connection, session_id: str) -> None:
        """Raise `SessionBusy` unless this instance has the lease, `SessionNotFound` if there is no such session."""
        row = connection.execute("SELECT instance, pid FROM leases WHERE session_id = ?", (session_id,)).fetchone()
        if row is None:
            require_session(connection, session_id)
            raise SessionBusy("This process does not hold the session any more.", hint="Open it again.")
        if row[0] != self.instance:
            raise _busy(row[1])

    def require_free(self, connection: sqlite3.Connection, session_id: str) -> None:
        """Raise `SessionBusy` if another living instance has the lease."""
        holder = self.holders(connection, [session_id]).get(session_id)
        if holder is not None:
            raise _busy(holder)

    def is_held(self, connection: sqlite3.Connection, session_id: str) -> bool:
        """True if this instance or another living one has the lease."""
        mine = connection.execute(
            "SELECT 1 FROM leases WHERE session_id = ? AND instance = ?", (session_id, self.instance)
        ).fetchone()
        return mine is not None or bool(self.holders(connection, [session_id]))

    def holders(self, connection: sqlite3.Connection, session_ids: list[str]) -> dict[str, int]:
        """The process ids of other living holders, by session; sessions without one are left out."""
        found: dict[str, int] = {}
        alive: dict[ProcessIdentity, bool | None] = {}
        others = "SELECT session_id, instance, machine, pid, started, heartbeat FROM leases WHERE instance != ?"
        if len(session_ids) == 1:
            rows = connection.execute(f"{others} AND session_id = ?", (self.instance, *session_ids)).fetchall()
        else:
            wanted = frozenset(session_ids)
            rows = [row for row in connection.execute(others, (self.instance,)) if row[0] in wanted]
        for session_id, *row in rows:
            holder = ProcessIdentity(row[1], row[2], row[3])
            if holder not in alive:
                alive[holder] = self._processes.is_alive(holder)
            is_alive = alive[holder]
            if is_alive or (is_alive is None and not self._is_silent(session_id, row[0], row[4])):
                found[session_id] = holder.pid
        return found

    def _is_silent(self, session_id: str, instance: str, heartbeat: int) -> bool:
        """True if the lease was watched for long enough without a new heartbeat; the first look begins the watch."""
        watched = self._watched.get(session_id)
        if watched is None or watched[:2] != (instance, heartbeat):
            watched = self._watched[session_id] = _Watched(instance, heartbeat, self._monotonic())
        return self._monotonic() - watched.since > STALE_SECONDS

    def beat(self, connection: sqlite3.Connection, now: int) -> set[str]:
        """Renew every lease of this instance; returns the sessions that it still holds."""
        connection.execute("UPDATE leases SET heartbeat = ? WHERE instance = ?", (now, self.instance))
        return {
            row[0] for row in connection.execute("SELECT session_id FROM leases WHERE instance = ?", (self.instance,))
        }

    def release(self, connection: sqlite3.Connection, session_id: str | None = None) -> None:
        """Release one lease, or all of this instance."""
        if session_id is None:
            connection.execute("DELETE FROM leases WHERE instance = ?", (self.instance,))
        else:
            connection.execute("DELETE FROM leases WHERE instance = ? AND session_id = ?", (self.instance, session_id))


def has_session(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether there is such a session."""
    return connection.execute("SELECT 1 FROM sessions WHERE session_id = ?", (session_id,)).fetchone() is not None


def require_session(connection: sqlite3.Connection, session_id: str) -> None:
    """Raise `SessionNotFound` if there is no such session."""
    if not has_session(connection, session_id):
        raise session_not_found(session_id)


def session_not_found(session_id: str) -> SessionNotFound:
    """The fault for an id that names no session."""
    return SessionNotFound(
        f"There is no session {session_id[:80]!r}.", hint="List the sessions to see which there are."
    )


def _busy(pid: int) -> SessionBusy:
    return SessionBusy(f"Another process (pid {pid}) holds the session.", hint=_HINT)
