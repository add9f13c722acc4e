"""`MemoryStore`: sessions that last as long as the process, for the command line's work on a single file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import msgspec

from gemini_companion.adapters.private_files import (
    link_private_files,
    make_private_directory,
    make_room,
    move_private_file,
    read_private_file,
    remove_file,
    safe_name,
    write_private_file,
)
from gemini_companion.adapters.storage.agent_rows import forked_from
from gemini_companion.adapters.storage.faults import storage_fault
from gemini_companion.adapters.storage.memory_recall import MemoryRecall
from gemini_companion.adapters.storage.versions import digest_of
from gemini_companion.engine.constraints.budget import is_over_budget
from gemini_companion.engine.errors import SessionNotFound, StaleVersion
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import Entry, encode_entry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry, KeptEntry
from gemini_companion.engine.redaction import mask
from gemini_companion.engine.statistics.spending import Spent, spent_on
from gemini_companion.sessions.kept_counts import KeptCount
from gemini_companion.sessions.kept_sums import KeptSums
from gemini_companion.sessions.ports import LoggedChanges, SessionMeta, SessionPage, StoredEvent, StoredEvents
from gemini_companion.sessions.retention import StoredSession
from gemini_companion.sessions.shared_entries import Ranges


class MemoryVersions:
    """A `VersionStore` in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        """By digest."""

    async def save(self, session_id: str, turn_id: str, versions: Sequence[bytes]) -> None:
        """Keep versions."""
        self.kept.update({digest_of(data): data for data in versions})

    async def forget(self, session_id: str, turn_id: str, digest: str) -> None:
        """Let it stay."""

    async def load(self, digest: str) -> bytes | None:
        """The version with this digest."""
        return self.kept.get(digest)


class MemorySums:
    """A `SumsStore` that keeps nothing: logs in memory are read quickly."""

    def __init__(self, sessions: Mapping[str, tuple[SessionMeta, Sequence[Entry]]]) -> None:
        self._sessions = sessions

    async def newest(self) -> dict[str, int]:
        """The number of each session's newest entry, 0 for one without."""
        return {session_id: log[-1].seq if log else 0 for session_id, (_, log) in self._sessions.items()}

    async def load(self, wanted: Mapping[str, int]) -> dict[str, bytes]:
        """Nothing."""
        return {}

    async def save(self, kept: Sequence[KeptSums]) -> None:
        """Do nothing."""


class MemoryStore:
    """A `SessionStore` in memory; only private texts go to disk, below `directory`, with their secrets masked."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._sessions: dict[str, tuple[SessionMeta, list[Entry]]] = {}
        self._constraints: dict[str, Constraint] = {}
        self._spent: list[tuple[int, Spent]] = []
        self._events: list[StoredEvent] = []
        self._next_event = 1
        self.versions = MemoryVersions()
        self._texts: dict[str, str] = {}
        """By path, whole texts whose file has masks."""

    @property
    def sums(self) -> MemorySums:
        """What is kept of the sessions' statistics."""
        return MemorySums(self._sessions)

    @property
    def recall(self) -> MemoryRecall:
        """Finding what was said."""
        return MemoryRecall(list(self._sessions.values()))

    async def create(self, meta: SessionMeta, entries: Sequence[Entry] = (), shared: Ranges = (), seqs: int = 0) -> int:
        """Make a session."""
        log = self._session(meta.parent or "")[1] if shared else []
        begins = [entry for entry in log if any(first <= entry.seq <= last for first, last in shared)]
        self._sessions[meta.session_id] = (meta, [*begins, *entries])
        if meta.parent is not None:
            source, directory = (os.path.dirname(self.text_path(one, "x")) for one in (meta.parent, meta.session_id))
            await asyncio.to_thread(link_private_files, source, directory)
        return await self.reserve_event_seqs(meta.session_id, seqs)

    async def restored_export(self, data: bytes) -> bytes:
        """The bytes: there is no vault."""
        return data

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        """Add entries."""
        _, log = self._session(session_id)
        if entries and log and entries[0].seq <= log[-1].seq:
            raise StaleVersion("Another writer was faster.")
        log.extend(entries)
        self._spent += [(entry.time, spent_on(entry)) for entry in entries]

    async def load(self, session_id: str) -> tuple[SessionMeta, list[Entry]]:
        """Read a whole session."""
        meta, log = self._session(session_id)
        return meta, list(log)

    async def load_counted(self, session_id: str) -> tuple[SessionMeta, list[Entry], StoredCounts]:
        """Read a whole session; nothing is known of its sizes."""
        return *await self.load(session_id), StoredCounts()

    async def load_newest(self, session_id: str, contents: int) -> tuple[SessionMeta, list[Entry]]:
        """Read a whole session: it is in memory."""
        return await self.load(session_id)

    async def save_counts(self, session_id: str, counts: Sequence[KeptCount]) -> None:
        """Do nothing: a session in memory is not opened again."""

    async def meta(self, session_id: str) -> SessionMeta:
        """Read a session's metadata."""
        return self._session(session_id)[0]

    async def changes_beside(
        self, session_id: str, after: Mapping[str, int], turns: Collection[str]
    ) -> Sequence[LoggedChanges]:
        """What the sessions of a chat's subagents say of changes, or of a subagent's the chat."""
        chat, metas = self._session(session_id)[0].agent, {one: meta for one, (meta, _) in self._sessions.items()}
        sources = forked_from(session_id, metas.get)
        return [
            LoggedChanges(
                meta=meta,
                entries=tuple(
                    entry
                    for entry in log
                    if isinstance(entry, ChangeEntry | KeptEntry) and entry.seq > after.get(meta.session_id, 0)
                ),
            )
            for meta, log in self._sessions.values()
            if (chat is not None and chat.session_id == meta.session_id)
            or ((one := meta.agent) is not None and one.session_id == session_id)
            or (one is not None and one.session_id in sources and one.turn_id in turns)
        ]

    async def logged_by_agents(self, session_id: str) -> Sequence[Entry]:
        """What a chat's subagents say of requests to models and of changes."""
        logs = [log for meta, log in self._sessions.values() if meta.agent and meta.agent.session_id == session_id]
        return [entry for log in logs for entry in log if isinstance(entry, ModelCallEntry | ChangeEntry)]

    async def save_meta(self, meta: SessionMeta) -> None:
        """Replace a session's metadata."""
        self._sessions[meta.session_id] = (meta, self._session(meta.session_id)[1])

    async def list(
        self, *, query: str = "", limit: int = 50, cursor: str | None = None, with_agents: bool = False
    ) -> SessionPage:
        """List the sessions, newest first; `query` is sought in titles only, and `cursor` is ignored."""
        metas = sorted((meta for meta, _ in self._sessions.values()), key=lambda meta: meta.updated_at, reverse=True)
        wanted = [meta for meta in metas if query.lower() in meta.title.lower() and (with_agents or meta.agent is None)]
        return SessionPage(sessions=tuple(msgspec.structs.replace(meta) for meta in wanted[:limit]))

    async def stored(self, sized: Collection[str] | None = None, *, alone: bool = False) -> Sequence[StoredSession]:
        """Sessions with the bytes of their logs, of each whatever `sized` asks for; all of them are open."""
        return [
            StoredSession(one, meta.updated_at, sum(map(len, map(encode_entry, log))), meta.is_kept, is_open=True)
            for one, (meta, log) in self._sessions.items()
            if not alone or sized is None or one in sized
        ]

    async def delete(self, session_id: str) -> None:
        """Delete a session and those of its subagents."""
        self._session(session_id)
        for one, (meta, _) in list(self._sessions.items()):
            if one == session_id or (meta.agent is not None and meta.agent.session_id == session_id):
                del self._sessions[one]

    async def constraints(self) -> tuple[Constraint, ...]:
        """The project's constraints, oldest first."""
        return tuple(self._constraints.values())

    async def save_constraints(self, constraints: Sequence[Constraint]) -> bool:
        """Add some of the project's constraints, or replace those with their ids, if the budget has room."""
        after = self._constraints | {one.constraint_id: one for one in constraints}
        if is_over_budget(self._constraints.values(), after.values()):
            return False
        self._constraints = after
        return True

    async def spent_since(self, time: int) -> Spent:
        """What was spent since then."""
        return reduce(Spent.plus, (spent for when, spent in self._spent if when >= time), Spent())

    async def hold(self, session_id: str, *, take_over: bool = False) -> int:
        """Do nothing: no other process can hold it."""
        self._session(session_id)
        return 0

    async def release(self, session_id: str) -> None:
        """Do nothing."""

    def holds(self, session_id: str) -> bool:
        """True for every session in this store."""
        return session_id in self._sessions

    async def still_holds(self, session_id: str) -> bool:
        """True for every session in this store."""
        return self.holds(session_id)

    async def reserve_event_seqs(self, session_id: str, count: int) -> int:
        """Reserve event numbers; returns the first."""
        first = self._next_event
        self._next_event += count
        return first

    def save_events(self, events: Sequence[StoredEvent]) -> None:
        """Store events."""
        self._events.extend(events)

    async def events(self, session_id: str, after_seq: int, limit: int = 10_000) -> StoredEvents:
        """Read the stored events past `after_seq`."""
        kept = [event for event in self._events if event.session_id == session_id and event.seq > after_seq]
        return StoredEvents(events=tuple(kept[:limit]), truncated=len(kept) > limit)

    async def save_text(self, session_id: str, name: str, text: str) -> str:
        """Write a private file (mode 0600), unless it is there, and return its path."""
        return await asyncio.to_thread(self._write, session_id, name, text)

    async def keep_file(self, session_id: str, name: str, path: str) -> str:
        """Take a file in as a private text."""
        return await asyncio.to_thread(self._keep, session_id, name, path)

    async def read_text(self, session_id: str, name: str) -> str | None:
        """A private text; `None` if there is none."""
        path = self.text_path(session_id, name)
        data = await asyncio.to_thread(read_private_file, path)
        return self._texts.get(path, data.decode(errors="backslashreplace")) if data is not None else None

    async def remove_texts(self, session_id: str, names: Sequence[str]) -> None:
        """Delete private files, if they exist."""
        for name in names:
            await asyncio.to_thread(remove_file, self.text_path(session_id, name))

    async def limit_texts(self, session_id: str, most_bytes: int, *, first: Sequence[str], spared: str) -> int:
        """Delete private files beyond so many bytes."""
        directory = os.path.dirname(self.text_path(session_id, "x"))
        return await asyncio.to_thread(
            make_room, directory, most_bytes, [safe_name(name) for name in first], safe_name(spared)
        )

    def text_path(self, session_id: str, name: str) -> str:
        """The path that `save_text` uses, if the name is not taken."""
        return os.path.join(self._directory, safe_name(session_id), safe_name(name))

    async def close(self) -> None:
        """Do nothing: nothing is pending."""

    def _write(self, session_id: str, name: str, text: str) -> str:
        directory = os.path.join(self._directory, safe_name(session_id))
        try:
            make_private_directory(directory)
            shown = mask(text)
            path = write_private_file(directory, safe_name(name), shown.encode(errors="replace"))
        except OSError as fault:
            raise storage_fault(fault, directory) from fault
        if shown != text:
            self._texts[path] = text
        return path

    def _keep(self, session_id: str, name: str, path: str) -> str:
        directory = os.path.join(self._directory, safe_name(session_id))
        try:
            make_private_directory(directory)
            return move_private_file(path, directory, safe_name(name))
        except OSError as fault:
            raise storage_fault(fault, directory) from fault

    def _session(self, session_id: str) -> tuple[SessionMeta, list[Entry]]:
        if session_id not in self._sessions:
            raise SessionNotFound(f"There is no session {session_id}.")
        return self._sessions[session_id]
