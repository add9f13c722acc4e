"""The sessions of this process: loaded from the store, held for writing, let go when nobody uses them any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from weakref import WeakValueDictionary

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.agent_surroundings import services_of
from gemini_companion.sessions.cancelling import to_its_end
from gemini_companion.sessions.channel import EVENT_NUMBERS, EventChannel
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.collector import COLLECTOR
from gemini_companion.sessions.compression.ahead import look_ahead
from gemini_companion.sessions.compression.background import end
from gemini_companion.sessions.constraints.project import take_in_first_rules, take_in_project_rules
from gemini_companion.sessions.context.late_environment import refresh_environment
from gemini_companion.sessions.counts import keep_counts
from gemini_companion.sessions.forking import Fork
from gemini_companion.sessions.listed_counts import count_on
from gemini_companion.sessions.making import Making
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import is_much, load, off_loop
from gemini_companion.sessions.unlogged import Remnant

KEPT_IDLE: Final = 4
"""Sessions that nobody uses and that stay loaded, so that going back to one is quick."""

IDLE_SECONDS: Final = 300.0
"""Seconds after which one that nobody uses is let go in any case, so that another process may write it."""

_REMEMBERED: Final = 1_000
"""Sessions whose numbers are remembered after they were let go."""


class SessionRegistry:
    """Folds every session once, however many requests for it come at the same time.

    `is_wanted` tells of a session id whether it is a client's current one.
    """

    def __init__(
        self,
        services: Services,
        subscribers: Callable[[str], Iterable[Client]],
        is_wanted: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._services = services
        self._subscribers = subscribers
        self._is_wanted = is_wanted
        self._sessions: dict[str, Session] = {}
        """Those that were used last stand at the end."""
        self._up_to_date: set[str] = set()
        """Those whose log was read, and closed, since their lease was taken. Others may have been written meanwhile."""
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._remnants: dict[str, Remnant] = {}
        self._letting_go: asyncio.Task[None] | None = None
        self._keeping: set[asyncio.Task[None]] = set()
        """What keeps the sizes of contents in the background."""
        self._one_at_a_time = asyncio.Lock()
        self._agents: dict[str, set[str]] = {}
        """By chat, the sessions of its subagents."""
        self.making = Making(self._unmake)
        services.use_sessions(self.made)

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def get(self, session_id: str) -> Session | None:
        """The session if it is loaded, else `None`."""
        return self._sessions.get(session_id)

    def held(self, session_id: str) -> Session | None:
        """The session if it is loaded and held by this process, so that no other one writes to it; else `None`."""
        is_held = session_id in self._up_to_date and self._services.store.holds(session_id)
        return self._sessions.get(session_id) if is_held else None

    async def load(self, session_id: str) -> Session:
        """The session as it is now, whichever process holds it. Raises `SessionNotFound`, `StorageFault`."""
        self.making.require_told(session_id)
        user, session = asyncio.current_task(), self.held(session_id)
        # Another process may have taken it since the last heartbeat, and written to it.
        if session is not None:
            is_held = await self._services.store.still_holds(session_id)
            session = self.held(session_id) if is_held else None  # it may have been let go meanwhile, too
        return self._used(session, user) if session else await to_its_end(self._load(session_id, user))

    async def hold(self, session_id: str, *, take_over: bool = False) -> Session:
        """The session, held for writing; what a crash left open is closed.

        Raises `SessionBusy` while another process holds it, unless `take_over`; `SessionNotFound`, `StorageFault`.
        Once begun it completes, even if the caller is cancelled meanwhile: what it tells of a crash is told once.
        """
        self.making.require_told(session_id)
        user, session = asyncio.current_task(), self.held(session_id)
        if session is not None:
            return self._used(session, user)
        return await to_its_end(self._hold(session_id, user, take_over=take_over))

    @asynccontextmanager
    async def made(
        self, meta: SessionMeta, entries: Sequence[Entry], fork: Fork | None = None
    ) -> AsyncGenerator[Session]:
        """A new session of these entries, or one that begins as a fork does, held. Raises `StorageFault`.

        Nothing of it stays if the block is cancelled or fails: whoever asked for it is told of it behind the block.
        """
        begin = (fork.own, fork.ranges) if fork else (entries, ())
        write = self._services.store.create(meta, *begin, EVENT_NUMBERS)
        async with self.making.written(meta.session_id, write) as first:
            if meta.agent is not None:
                self._agents.setdefault(meta.agent.session_id, set()).add(meta.session_id)
            session = await self._fold(meta, entries, first_event=first, fork=fork)
            self._up_to_date.add(meta.session_id)
            await take_in_first_rules(session)
            yield self._used(session, asyncio.current_task())

    async def _unmake(self, session_id: str) -> None:
        for agents in self._agents.values():
            agents.discard(session_id)
        if (session := self._sessions.get(session_id)) is not None:
            await session.stop("delete")
        try:
            await self.delete(session_id)
        finally:  # one that could not be deleted is read anew: this one was ended
            self._sessions.pop(session_id, None)
            self._up_to_date.discard(session_id)

    def end_preparing(self) -> None:
        """A client has left a session: nothing is prepared in a chat that nobody has open, and where nothing runs."""
        for session in self:
            if session.lane.is_idle and not self._is_wanted(session.session_id):
                end(session, "leave")

    def is_open(self, session: Session) -> bool:
        """Whether it is somebody's current one, and neither deleted nor read anew since."""
        is_kept = not session.is_gone and self._sessions.get(session.session_id) is session
        return is_kept and self._is_wanted(session.session_id)

    def leave(self, session_id: str | None, begun: Session) -> None:
        """A client has left a session for a new one."""
        self.end_preparing()
        left = self.held(session_id or "")
        if left is not None and left.lane.is_idle and not self._is_wanted(left.session_id):
            self._services.hooks.leave(left, begun)

    def agents_of(self, session_id: str) -> list[str]:
        """Ids of the sessions of a chat's subagents that were made in this process."""
        return sorted(self._agents.get(session_id, ()))

    async def delete(self, session_id: str) -> list[str]:
        """Delete a session, its subagents' and their files; the ids of those that were loaded, and its own.

        Raises `SessionNotFound`, `SessionBusy`, `StorageFault`.
        """
        hooks = self._services.hooks
        if (session := self.held(session_id)) is not None:
            await hooks.finish(session, "other")
        await self._services.store.delete(session_id)
        gone = [session_id, *self._agents.pop(session_id, ())]
        for one in gone:
            if (left := self._sessions.pop(one, None)) is not None and is_much(len(left.history.entries)):
                COLLECTOR.has_gone(left)
            self._up_to_date.discard(one)
            self._remnants.pop(one, None)
            hooks.forget(one)
        return gone

    async def close(self) -> None:
        """End what goes on by itself, and keep what is still to be kept for replay."""
        await self.making.close()
        for session in self:
            session.channel.keep_deltas()
        await asyncio.gather(*self._keeping, *(keep_counts(session) for session in self))
        await self._services.hooks.close(self)
        if self._letting_go is not None:
            await asyncio.wait({self._letting_go})

    async def let_go(self) -> None:
        """Unload and release the sessions that nobody uses, but for `KEPT_IDLE` used within `IDLE_SECONDS`."""
        async with self._one_at_a_time:
            await self._let_go_idle()
        if all(session.lane.is_idle for session in self):
            COLLECTOR.collect()

    async def _let_go_idle(self) -> None:
        for session in self:
            if self.held(session.session_id) is session:
                await session.write_left()  # else one store that was full for a moment would keep it for ever
                await keep_counts(session)
        idle = [session for session in self if self._is_idle(session)]
        now = self._services.clock.monotonic()
        for place, session in enumerate(reversed(idle)):
            if place >= KEPT_IDLE or now - session.last_used >= IDLE_SECONDS:
                if self.held(session.session_id) is session:
                    await self._services.hooks.finish(session, "other")  # whoever uses it meanwhile keeps it
                await self._let_go(session)

    async def _let_go(self, session: Session) -> None:
        session_id = session.session_id
        async with self._opening.setdefault(session_id, asyncio.Lock()):
            if self._sessions.get(session_id) is not session or not self._is_idle(session):
                return
            # From here on whoever asks for it waits for the lock, and then loads it again.
            del self._sessions[session_id]
            if is_much(len(session.history.entries)):
                COLLECTOR.has_gone(session)
            self._up_to_date.discard(session_id)
            session.channel.keep_deltas()
            session.compressions.ahead.stop()
            if not self._services.store.holds(session_id):
                return
            self._remnants.pop(session_id, None)
            session.ledger.forget_texts()
            is_surrounded = session.environment is not None
            self._remnants[session_id] = Remnant(
                session.history.version, session.ledger, session.last_result, session.unlogged, is_surrounded
            )
            while len(self._remnants) > _REMEMBERED:
                del self._remnants[next(iter(self._remnants))]
            try:
                await self._services.store.release(session_id)
            except CompanionError:
                return  # the lease stays this process's, and is taken again with the next use

    def _is_idle(self, session: Session) -> bool:
        return not self._is_wanted(session.session_id) and not session.is_in_use

    def _used(self, session: Session, user: asyncio.Task[Any] | None) -> Session:
        """The session, which is not let go as long as the task runs that asked for it."""
        session.use(user, self._services.clock.monotonic())
        if self._sessions.get(session.session_id) is session:
            self._sessions[session.session_id] = self._sessions.pop(session.session_id)
        return session

    async def _load(self, session_id: str, user: asyncio.Task[Any] | None) -> Session:
        async with self._opening.setdefault(session_id, asyncio.Lock()):
            if (session := self.held(session_id)) is not None:
                return self._used(session, user)
            if (stale := self._still_running(session_id)) is not None:
                if not stale.lane.is_idle:
                    return self._used(stale, user)  # so that what runs in it can be stopped; its writes will fail
                await stale.stop("takeOver")
            # Another process may have written meanwhile: a session that is not held is read again.
            meta, entries, counts = await self._read(session_id)
            remnant = self._remnants.get(session_id)
            session = await self._fold(meta, entries, first_event=0, remnant=remnant, counts=counts)
            await _surround(session, remnant)
            return self._used(session, user)

    async def _hold(self, session_id: str, user: asyncio.Task[Any] | None, *, take_over: bool) -> Session:
        store = self._services.store
        async with self._opening.setdefault(session_id, asyncio.Lock()):
            if (session := self.held(session_id)) is not None:
                return self._used(session, user)
            self._up_to_date.discard(session_id)
            last_held = await store.hold(session_id, take_over=take_over)
            if (stale := self._still_running(session_id)) is not None:
                await stale.stop("takeOver")  # the lease was another's meanwhile: what began before that cannot be kept
            meta, entries, counts = await self._read(session_id)
            first = await store.reserve_event_seqs(session_id, EVENT_NUMBERS)
            remnant = self._remnants.get(session_id)
            await load("gemini_companion.sessions.recovery")
            from gemini_companion.sessions.recovery import recover

            session = await self._fold(meta, entries, first_event=first, remnant=remnant, counts=counts)
            try:
                if remnant is None or remnant.version != session.history.version:
                    await recover(session, first, last_held)
                    session.unlogged.know_agents(await store.logged_by_agents(session_id))
                await take_in_project_rules(session)
                await _surround(session, remnant)
                # Its last process may have ended before it had written what became of the number.
                if session.environment and session.token_count(session.choice()).tokens != meta.token_count:
                    await session.update_listing(is_change=False)
            except BaseException:
                self._sessions.pop(session_id, None)  # the next one tries again from the beginning
                raise
            self._remnants.pop(session_id, None)
            self._up_to_date.add(session_id)
            return self._used(session, user)

    async def _read(self, session_id: str) -> tuple[SessionMeta, Sequence[Entry], StoredCounts]:
        """What the store has of a session. Nothing is collected meanwhile, since the log may be a long one."""
        with COLLECTOR.paused():
            return await self._services.store.load_counted(session_id)

    def _still_running(self, session_id: str) -> Session | None:
        """The session as it was read before its lease was lost, if something runs in it or beside."""
        session = self._sessions.get(session_id)
        return None if session is None or (session.lane.is_idle and not session.compressions.previews()) else session

    async def _fold(
        self,
        meta: SessionMeta,
        entries: Sequence[Entry],
        *,
        first_event: int,
        remnant: Remnant | None = None,
        counts: StoredCounts | None = None,
        fork: Fork | None = None,
    ) -> Session:
        """Fold a log; a long one in a thread. What had to be measured is kept in the background.

        Where nobody wrote since it was let go, it goes on as if it had never been.
        """
        folds = fork.folds if fork else None
        if fork:
            entries, counts = fork.own if folds else [*fork.shared, *fork.own], fork.counts
        is_as_left = remnant is not None and remnant.version == (entries[-1].seq if entries else 0)
        ledger = remnant.ledger if remnant is not None and is_as_left else fork.ledger if fork else None
        services = services_of(self._services, meta)
        channel = EventChannel(
            meta.session_id,
            services.store,
            services.clock,
            self._subscribers,
            first_event,
            services.observing.event,
        )

        def build() -> Session:
            built = Session(meta, entries, services, channel, ledger, counts, folds)
            built.history.totals()  # makes the view, of all contents: else the first who asks for its size would
            return built

        session = await off_loop(len(entries), build)
        if remnant is not None:
            session.unlogged = remnant.unlogged
            session.last_result = remnant.last_result if is_as_left else session.last_result
        session.use(None, services.clock.monotonic())
        self._sessions[meta.session_id] = session
        if session.history.counting.has_fresh:
            keeping = asyncio.create_task(keep_counts(session), name="keeping the sizes of contents")
            self._keeping.add(keeping)
            keeping.add_done_callback(self._keeping.discard)
        if len(self._sessions) > KEPT_IDLE and (self._letting_go is None or self._letting_go.done()):
            self._letting_go = asyncio.create_task(self.let_go(), name="letting sessions go")
        look_ahead(session)
        return session


async def _surround(session: Session, remnant: Remnant | None) -> None:
    """Build what stands ahead of a conversation that is no subagent's: the number that lists show counts that."""
    count_on(session.ledger, session.history, session.meta.counted)
    if session.meta.agent is None or (remnant and remnant.is_surrounded):
        await refresh_environment(session)
