"""The sessions of this process: loaded from the store, held for writing, cached while they are used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from weakref import WeakValueDictionary

from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.channel import EVENT_NUMBERS, EventChannel
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.recovery import recover
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop


class SessionRegistry:
    """Folds every session once, however many requests for it come at the same time."""

    def __init__(self, services: Services, subscribers: Callable[[str], Iterable[Client]]) -> None:
        self._services = services
        self._subscribers = subscribers
        self._sessions: dict[str, Session] = {}
        self._taken: set[str] = set()
        """Those whose log was read, and closed, since their lease was taken. Others may have been written meanwhile."""
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def get(self, session_id: str) -> Session | None:
        """The session if it is loaded, else `None`."""
        return self._sessions.get(session_id)

    def held(self, session_id: str) -> Session | None:
        """The session if it is loaded and held by this process, so that no other one writes to it; else `None`."""
        is_held = session_id in self._taken and self._services.store.holds(session_id)
        return self._sessions.get(session_id) if is_held else None

    async def load(self, session_id: str) -> Session:
        """The session as it is now, whichever process holds it. Raises `SessionNotFound`, `StorageFault`."""
        session = self.held(session_id)
        if session is not None:
            return session
        async with self._opening.setdefault(session_id, asyncio.Lock()):
            session = self.held(session_id)
            if session is not None:
                return session
            # Another process may have written meanwhile: a session that is not held is read again.
            meta, entries = await self._services.store.load(session_id)
            return await self._fold(meta, entries, first_event=0)

    async def hold(self, session_id: str, *, take_over: bool = False) -> Session:
        """The session, held for writing; what a crash left open is closed.

        Raises `SessionBusy` while another process holds it, unless `take_over`; `SessionNotFound`, `StorageFault`.
        """
        session = self.held(session_id)
        if session is not None:
            return session
        store = self._services.store
        async with self._opening.setdefault(session_id, asyncio.Lock()):
            session = self.held(session_id)
            if session is not None:
                return session
            self._taken.discard(session_id)
            await store.hold(session_id, take_over=take_over)
            meta, entries = await store.load(session_id)
            first = await store.reserve_event_seqs(session_id, EVENT_NUMBERS)
            session = await self._fold(meta, entries, first_event=first)
            await recover(session, first)
            self._taken.add(session_id)
            return session

    async def create(self, meta: SessionMeta, entries: Sequence[Entry]) -> Session:
        """A new session of these entries, held. Raises `StorageFault`."""
        await self._services.store.create(meta, entries)
        first = await self._services.store.reserve_event_seqs(meta.session_id, EVENT_NUMBERS)
        session = await self._fold(meta, entries, first_event=first)
        self._taken.add(meta.session_id)
        return session

    async def delete(self, session_id: str) -> None:
        """Delete a session and its files. Raises `SessionNotFound`, `SessionBusy`, `StorageFault`."""
        await self._services.store.delete(session_id)
        self._sessions.pop(session_id, None)
        self._taken.discard(session_id)

    async def _fold(self, meta: SessionMeta, entries: Sequence[Entry], *, first_event: int) -> Session:
        """Fold a log; a long one in a thread, since every content is measured."""
        services = self._services
        channel = EventChannel(meta.session_id, services.store, services.clock, self._subscribers, first_event)
        session = await off_loop(len(entries), lambda: Session(meta, entries, services, channel))
        self._sessions[meta.session_id] = session
        return session
