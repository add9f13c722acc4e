"""`ReadSessions`: sessions as a store reads them, whichever process holds them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gemini_companion.adapters.storage import agent_rows, records
from gemini_companion.adapters.storage.faults import damaged
from gemini_companion.adapters.storage.leases import Leases
from gemini_companion.adapters.storage.newest import read_newest
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.ports import LoggedChanges, SessionMeta

if TYPE_CHECKING:
    import sqlite3

# `list` is a method of the port, so within a store's class the type has other names.
Log: TypeAlias = list[Entry]
Metas: TypeAlias = list[SessionMeta]


class ReadSessions:
    """What a store does to read sessions; part of `SqliteStore`."""

    worker: Worker
    _directory: str
    _leases: Leases
    _vaulted: Vaulted
    _notify: Callable[[str], None]
    _told: set[str]
    """Sessions whose damaged entries were told of."""

    async def load(self, session_id: str) -> tuple[SessionMeta, Log]:
        """Read a whole session."""
        meta, entries, _ = await self.load_counted(session_id)
        return meta, entries

    async def load_counted(self, session_id: str) -> tuple[SessionMeta, Log, StoredCounts]:
        """The same with what is known of the sizes of its contents."""
        sought: set[int] = set()

        def work(connection: sqlite3.Connection) -> tuple[SessionMeta, records.ReadLog]:
            meta, read = self._meta(connection, session_id), records.read_entries(connection, self._vaulted, session_id)
            if read.missing and not sought and session_id not in self._told:
                sought.update(read.missing)
                # The file is opened anew and checked as a whole; what a damaged index hides is taken over.
                raise damaged(f"{len(read.missing)} entries of {session_id} are not where they were")
            return meta, read

        meta, read = await self.worker.run("read", work)
        lost = sorted(sought.difference(entry.seq for entry in read.entries).union(read.damaged))
        if lost and session_id not in self._told:
            self._told.add(session_id)
            self._notify(records.what_was_lost(meta, lost, self._directory))
        return meta, read.entries, read.counts

    async def load_newest(self, session_id: str, contents: int) -> tuple[SessionMeta, Log]:
        """Read the end of a session."""

        def work(connection: sqlite3.Connection) -> tuple[SessionMeta, Log]:
            return self._meta(connection, session_id), read_newest(connection, self._vaulted, session_id, contents)

        return await self.worker.run("read", work)

    async def changes_beside(
        self, session_id: str, after: Mapping[str, int], turns: Collection[str]
    ) -> Sequence[LoggedChanges]:
        """Read what the sessions of a chat's subagents say of changes, or of a subagent's the chat."""

        def work(connection: sqlite3.Connection) -> list[LoggedChanges]:
            found = agent_rows.changes_beside(connection, self._vaulted, session_id, after, turns)
            metas = self._with_holders(connection, [one.meta for one in found])
            return [msgspec.structs.replace(one, meta=meta) for one, meta in zip(found, metas, strict=True)]

        return await self.worker.run("read", work)

    async def logged_by_agents(self, session_id: str) -> Sequence[Entry]:
        """Read what a chat's subagents say of requests to models and of changes."""
        return await self.worker.run(
            "read", lambda connection: agent_rows.logged_by_agents(connection, self._vaulted, session_id)
        )

    async def meta(self, session_id: str) -> SessionMeta:
        """Read a session's metadata."""
        return await self.worker.run("read", lambda connection: self._meta(connection, session_id))

    def _meta(self, connection: sqlite3.Connection, session_id: str) -> SessionMeta:
        return self._with_holders(connection, [records.read_meta(connection, self._vaulted, session_id)])[0]

    def _with_holders(self, connection: sqlite3.Connection, metas: Metas) -> Metas:
        holders = self._leases.holders(connection, [meta.session_id for meta in metas])
        return [msgspec.structs.replace(meta, held_by=holders.get(meta.session_id)) for meta in metas]
