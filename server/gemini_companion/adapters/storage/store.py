"""`SqliteStore`: the sessions of one project in one file."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from gemini_companion.adapters.private_files import remove_directory, remove_old_directories, safe_name
from gemini_companion.adapters.storage import event_log, project_rules, records, room, spending
from gemini_companion.adapters.storage.counts import save_counts
from gemini_companion.adapters.storage.event_log import EventKeeper
from gemini_companion.adapters.storage.kept_events import KeptEvents
from gemini_companion.adapters.storage.leases import Leases, has_session
from gemini_companion.adapters.storage.listing import Page, page_of
from gemini_companion.adapters.storage.paging import encode_cursor
from gemini_companion.adapters.storage.private_texts import PrivateTexts
from gemini_companion.adapters.storage.process import ProcessTable, SystemProcesses
from gemini_companion.adapters.storage.reading import ReadSessions
from gemini_companion.adapters.storage.recall import SqliteRecall
from gemini_companion.adapters.storage.redacting import Redacting
from gemini_companion.adapters.storage.schema import FILE_NAME
from gemini_companion.adapters.storage.sums import SqliteSums
from gemini_companion.adapters.storage.vaulted import Vaulted, WrittenEntry, WrittenMeta, count_secrets, sealed_of
from gemini_companion.adapters.storage.version_store import SqliteVersions
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.engine.errors import SessionBusy, SessionNotFound, StorageFault
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.redaction.markers import ids_in
from gemini_companion.engine.statistics.spending import Spent
from gemini_companion.sessions.kept_counts import KeptCount
from gemini_companion.sessions.ports import Clock, SessionMeta, SessionPage
from gemini_companion.sessions.retention import GRACE_MS, StoredSession
from gemini_companion.sessions.shared_entries import Ranges

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.storage.database import Database
    from gemini_companion.adapters.vault.vault import Vault

_log = logging.getLogger(__name__)

# `list` is a method of the port, so within the class the type has other names.
Stored: TypeAlias = list[StoredSession]
Ids: TypeAlias = list[str]
Written: TypeAlias = list[WrittenEntry]

THIRTY_DAYS_MS: Final = 30 * 24 * 60 * 60 * 1000


def open_store(
    data_dir: str | os.PathLike[str],
    project: str,
    *,
    clock: Clock,
    processes: ProcessTable | None = None,
    notify: Callable[[str], None] = lambda message: None,
    heartbeat_seconds: float = 5.0,
    vault: Vault | None = None,
    on_taken: Callable[[str], None] = lambda session_id: None,
) -> SqliteStore:
    """The store of the project named by `project_key`. The disk is not touched until it is first used.

    `notify` is called on any thread, with a sentence for people, when a damaged file was moved aside, and when a
    session that lost entries is read for the first time; `on_taken` so too, once it is noticed that another process
    took a session that was held here: with a write, or the next heartbeat.
    `processes` knows which holders of leases are alive; by default the system is asked. `vault` keeps secrets out of
    what is written; without it they stand there as they are.
    """
    directory = os.path.join(os.path.abspath(data_dir), "projects", safe_name(project))
    return SqliteStore(
        directory,
        clock=clock,
        processes=processes or SystemProcesses(),
        notify=notify,
        heartbeat_seconds=heartbeat_seconds,
        vault=vault,
        on_taken=on_taken,
    )


class SqliteStore(ReadSessions, PrivateTexts, KeptEvents):
    """The `SessionStore` port on SQLite. Made by `open_store`; several in one process do not share their leases."""

    def __init__(
        self,
        directory: str,
        *,
        clock: Clock,
        processes: ProcessTable,
        notify: Callable[[str], None],
        heartbeat_seconds: float,
        vault: Vault | None = None,
        on_taken: Callable[[str], None] = lambda session_id: None,
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._notify = notify
        self._on_taken = on_taken
        self._is_closing = False
        self._leases = Leases(os.urandom(8).hex(), processes, lambda: clock.monotonic())
        self._vault = vault
        self._vaulted = Vaulted(vault)
        self._events = EventKeeper(vault)
        self._held: set[str] = set()
        self._told: set[str] = set()
        """Sessions whose damaged entries were told of."""
        self._limited: set[str] = set()
        self._lost_events: dict[str, int] = {}
        self.worker = Worker(self._make_database, beat=self._beat, beat_seconds=heartbeat_seconds)
        """Where everything that writes to the file happens."""
        self.recall = SqliteRecall(self.worker, os.path.join(directory, FILE_NAME), notify, self._vaulted)
        self.sums = SqliteSums(self.worker)
        self._room = room.Room(self.worker, self._leases, os.path.join(directory, "files"))
        self.versions = SqliteVersions(self.worker, os.path.join(directory, "versions"), clock, notify, vault=vault)

    async def create(self, meta: SessionMeta, entries: Sequence[Entry] = (), shared: Ranges = (), seqs: int = 0) -> int:
        """Make a session, a fork with its parent's private files, and hold it. Raises `InvalidInput` for a taken id."""

        def work(connection: sqlite3.Connection, written: tuple[WrittenMeta, Written]) -> int:
            records.insert_session(connection, *written, shared)
            self._leases.take(connection, meta.session_id, self._clock.now())
            return event_log.reserve(connection, meta.session_id, seqs)

        self.worker.keep_beating()
        first = await self.worker.write(lambda: (self._vaulted.meta(meta), self._vaulted.entries(entries)), work)
        self._held.add(meta.session_id)
        if meta.parent is not None:
            await self.share_texts(meta.session_id, meta.parent)
        self.recall.index_later(entries, is_fork=bool(shared))
        return first

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        """Append entries; they are on disk when this returns."""

        def work(connection: sqlite3.Connection, written: Written) -> None:
            self._leases.require_held(connection, session_id)
            records.append_entries(connection, session_id, written)
            spending.add_spending(connection, entries)

        try:
            await self.worker.write(lambda: self._vaulted.entries(entries), work)
        except SessionBusy:
            self._has_lost(session_id)
            raise
        self.recall.index_later(entries)

    async def save_counts(self, session_id: str, counts: Sequence[KeptCount]) -> None:
        """Keep sizes for `load_counted`."""
        await self.worker.run("relaxed", lambda connection: save_counts(connection, session_id, counts))

    async def save_meta(self, meta: SessionMeta) -> None:
        """Replace a session's metadata. Raises `SessionBusy` unless it is held: who had it since may have said more."""

        def work(connection: sqlite3.Connection, written: WrittenMeta) -> None:
            self._leases.require_held(connection, meta.session_id)
            records.update_session(connection, written)

        await self.worker.write(lambda: self._vaulted.meta(meta), work)

    async def list(
        self, *, query: str = "", limit: int = 50, cursor: str | None = None, with_agents: bool = False
    ) -> SessionPage:
        """List sessions, newest first, at most 500 at once. Raises `InvalidInput` for a cursor of another origin."""
        read = page_of(self._vaulted, query, limit, cursor, with_agents=with_agents)

        def read_held(connection: sqlite3.Connection) -> Page:
            metas, has_more = read(connection)
            return self._with_holders(connection, metas), has_more

        if query:
            (metas, has_more), unindexed = await self.recall.with_index(read)
            page = await self.worker.run("read", lambda connection: self._with_holders(connection, metas))
        else:
            (page, has_more), unindexed = await self.worker.run("read", read_held), 0
        last = page[-1] if has_more else None
        return SessionPage(
            sessions=tuple(page),
            next_cursor=encode_cursor(last.updated_at, last.session_id) if last else None,
            unindexed=unindexed,
        )

    async def delete(self, session_id: str) -> None:
        """Delete a session, its subagents', their logs, events and private files."""

        def work(connection: sqlite3.Connection) -> Ids:
            agents = deletable(connection)
            records.delete_session(connection, session_id)
            return agents

        def deletable(connection: sqlite3.Connection) -> Ids:
            records.require_session(connection, session_id)
            self._leases.require_free(connection, session_id)
            return records.agents_of(connection, session_id)

        async with self.recall.leaving([*await self.worker.run("read", deletable), session_id]):
            agents = await self.worker.run("write", work)
        for one in (*agents, session_id):
            self._held.discard(one)
            await self.worker.run_file(lambda one=one: remove_directory(self._files_of(one)))
        await self.versions.remove_unneeded()

    async def stored(self, sized: Collection[str] | None = None, *, alone: bool = False) -> Stored:
        """What each session takes: its log, and its private files. See `Room.stored`."""
        return await self._room.stored(sized, alone=alone)

    async def remove_unused(self, sessions: Sequence[StoredSession]) -> int:
        """Delete those that are as they were found, and not open; returns their number."""
        count = 0
        for one in sessions:

            def work(connection: sqlite3.Connection, one: StoredSession = one) -> Ids:
                return room.delete_unused(connection, self._leases, one)

            async with self.recall.leaving([] if one.is_open else [one.session_id]):
                removed = await self.worker.run("write", work)
            count += bool(removed)
            for session_id in removed:
                files = self._files_of(session_id)
                await self.worker.run_file(lambda files=files: remove_directory(files))
        if count:
            await self.versions.remove_unneeded()
        return count

    async def sweep(self, older_than_ms: int = THIRTY_DAYS_MS) -> int:
        """Delete the sessions that may go, that no process holds and that nobody wrote to for `older_than_ms`.

        They go only if an earlier sweep found them old too, `GRACE_MS` ago or more, and never in the first sweep after
        a gap as long as `older_than_ms`: a clock that is ahead must not cost anybody a session. Returns their number.
        Private files of deleted sessions are deleted at the same age.
        """
        now = self._clock.now()
        deadline = now - older_than_ms
        old = await self.worker.run("write", lambda connection: records.long_due(connection, now, deadline, GRACE_MS))
        count = 0
        for session_id in old:

            def may_go(connection: sqlite3.Connection, session_id: str = session_id) -> bool:
                return self._may_be_swept(connection, session_id)

            def work(connection: sqlite3.Connection, session_id: str = session_id) -> bool:
                return self._may_be_swept(connection, session_id) and records.delete_older(
                    connection, session_id, deadline
                )

            if await self.worker.run("read", may_go):
                async with self.recall.leaving([session_id]):
                    count += await self.worker.run("write", work)
        names = {safe_name(session_id) for session_id in await self.worker.run("read", records.session_ids)}
        files = os.path.join(self._directory, "files")
        await self.worker.run_file(lambda: remove_old_directories(files, names, deadline))
        await self.versions.remove_unneeded()
        return count

    async def restored_export(self, data: bytes) -> bytes:
        """The bytes of a session file; of one that was exported beside this vault, and not changed, as it was before
        its secrets became marks. Marks whose secrets are gone, with the last chat that had them, stay.
        """
        document = await asyncio.to_thread(self._vault.authentic_export, data) if self._vault is not None else None
        if self._vault is None or document is None:
            return data
        ids = await asyncio.to_thread(ids_in, document)
        kept = await self.worker.run("read", lambda connection: {one: sealed_of(connection, one) for one in ids})
        return await asyncio.to_thread(self._vault.restored, document, kept.get, in_json=True)

    async def redact_older(self) -> None:
        """Go through what was written before there was a vault, or while redaction was off. Goes on where it ended."""
        await Redacting(self.worker, self._vault, self._vaulted, self._events, self.versions, self._directory).run()

    async def secrets(self) -> tuple[int, int]:
        """How many secrets the vault has for this project, and how many entries were not gone through yet."""
        return await self.worker.run("read", count_secrets)

    async def constraints(self) -> tuple[Constraint, ...]:
        """The project's constraints, oldest first."""
        return await self.worker.run(
            "read", lambda connection: project_rules.read_constraints(connection, self._vaulted)
        )

    async def save_constraints(self, constraints: Sequence[Constraint]) -> bool:
        """Add some of the project's constraints, or replace those with their ids, if the budget has room."""
        return await self.worker.write(
            lambda: self._vaulted.constraints(constraints),
            lambda connection, rows: project_rules.save_constraints(connection, self._vaulted, rows),
        )

    async def spent_since(self, time: int) -> Spent:
        """What the project's sessions have spent since then."""
        return await self.worker.run("read", lambda connection: spending.spent_since(connection, time))

    async def hold(self, session_id: str, *, take_over: bool = False) -> int:
        """Take the lease, or keep it; returns when a process that did not give it back last had it, else 0."""

        def work(connection: sqlite3.Connection) -> int:
            return self._leases.take(connection, session_id, self._clock.now(), take_over=take_over)

        self.worker.keep_beating()
        last_held = await self.worker.run("relaxed", work)
        self._held.add(session_id)
        return last_held

    async def release(self, session_id: str) -> None:
        """Release the lease."""

        def work(connection: sqlite3.Connection) -> None:
            self._leases.release(connection, session_id)
            self._held.discard(session_id)  # here: to a heartbeat in between it would be one that was taken

        await self.worker.run("relaxed", work)

    def holds(self, session_id: str) -> bool:
        """True while this store has the lease, as of the last write or heartbeat."""
        return session_id in self._held

    async def still_holds(self, session_id: str) -> bool:
        """Whether this store has the lease now. A file that cannot be read leaves it at what `holds` says."""
        if session_id not in self._held:
            return False
        try:
            return await self.worker.run("read", lambda connection: self._is_still_held(connection, session_id))
        except StorageFault:
            return session_id in self._held

    async def beat(self) -> None:
        """Renew the leases now, and update which of them are left. The worker does it regularly."""
        await self.worker.run("relaxed", self._beat)

    async def close(self) -> None:
        """Release every lease, write what is pending, close the file. Afterwards every method raises `StorageFault`."""
        await self.recall.close()
        await self._room.close()
        self._is_closing = True
        try:
            await self.worker.close(self._leases.release)
        except StorageFault as fault:
            _log.warning("The leases could not be given back: %s", fault)
        self._held.clear()

    def _is_still_held(self, connection: sqlite3.Connection, session_id: str) -> bool:
        try:
            self._leases.require_held(connection, session_id)
        except SessionBusy:
            self._has_lost(session_id)
            return False
        except SessionNotFound:
            self._held.discard(session_id)
            return False
        return True

    def _has_lost(self, session_id: str) -> None:
        """Another process took it: whoever has it open here is told, once."""
        if session_id in self._held:
            self._held.discard(session_id)
            if not self._is_closing:
                self._on_taken(session_id)

    def _may_be_swept(self, connection: sqlite3.Connection, session_id: str) -> bool:
        return not (self._leases.is_held(connection, session_id) or self._meta(connection, session_id).is_kept)

    def _make_database(self) -> Database:
        from gemini_companion.adapters.storage.database import Database

        return Database(self._directory, now=self._clock.now, notify=self._notify)

    def _beat(self, connection: sqlite3.Connection) -> None:
        before, self._held = self._held, self._leases.beat(connection, self._clock.now())
        for session_id in before - self._held:
            if not self._is_closing and has_session(connection, session_id):  # else they are given back
                self._on_taken(session_id)
