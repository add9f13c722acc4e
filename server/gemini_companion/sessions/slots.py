"""How much goes on at once in one process, over all its sessions: requests to models, and processes.

Each is asked for by its session, a subagent's by the chat that it works for, so that eight subagents have no eight
shares. A slot is held only while a request is out, or a process runs: not while a person is asked, or a retry waited
for.

Order: a slot for a process may be waited for while one of a model is held, since hooks look at answers while they
stream; never the other way round. And a model that answers one by one is waited for before one of the slots of all.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

from gemini_companion.engine.scheduling.fair_slots import FairSlots, Slot, Urgency
from gemini_companion.sessions.events import Event, SlotKind, WaitingForSlot
from gemini_companion.sessions.lane import Job, Lane
from gemini_companion.sessions.models.port import ModelProvider
from gemini_companion.settings.effective import Settings

MOMENT: Final = 0.5
"""Seconds of waiting of which nothing is said: what is faster than that nobody wants to read."""

_RECALL: Final = ""
"""The key of what is no session's."""

Tell = Callable[[bool], None]
"""Takes that something waits, and then that it does no more."""


class _Services(Protocol):
    @property
    def settings(self) -> Callable[[], Settings]: ...
    @property
    def slots(self) -> Slots: ...


class Asking(Protocol):
    """What of a session its slots need."""

    @property
    def session_id(self) -> str:
        """The session's id."""
        ...

    @property
    def principal(self) -> Asking:
        """The chat of a subagent, else the session itself."""
        ...

    @property
    def services(self) -> _Services:
        """What it shares with others."""
        ...

    @property
    def lane(self) -> Lane:
        """Its jobs."""
        ...

    def emit(self, event: Event, turn_id: str | None = None) -> None:
        """Send an event to every subscriber."""
        ...


class SlotGroup:
    """The slots of one kind."""

    def __init__(self) -> None:
        self.fair = FairSlots(1)

    @asynccontextmanager
    async def held(self, key: str, urgency: Urgency, tell: Tell) -> AsyncGenerator[None]:
        """Wait for a slot and hold it. `tell` is called only if that takes more than a moment, and people wait."""
        slot = self.fair.ask(key, urgency.rank)
        try:
            if not slot.is_held:
                await self._until_held(slot, urgency, tell)
            yield
        finally:
            self.fair.end(slot)

    async def _until_held(self, slot: Slot, urgency: Urgency, tell: Tell) -> None:
        loop = asyncio.get_running_loop()
        held: asyncio.Future[None] = loop.create_future()
        slot.on_held = lambda: None if held.done() else held.set_result(None)
        saying: asyncio.TimerHandle | None = None
        has_told = False

        def say() -> None:
            nonlocal has_told
            has_told = True
            tell(True)

        def see_to_saying() -> None:
            nonlocal saying
            if urgency.is_shown and saying is None and not held.done():
                saying = loop.call_later(MOMENT, say)

        def risen() -> None:
            self.fair.rise(slot)
            see_to_saying()

        see_to_saying()
        try:
            with urgency.heard_by(risen):
                await held
        finally:
            if saying is not None:
                saying.cancel()
            if has_told:
                tell(False)


class Slots:
    """All slots of one process."""

    def __init__(self) -> None:
        self.model_calls = SlotGroup()
        self.processes = SlotGroup()
        self._one_by_one: dict[str, SlotGroup] = {}
        """Of models that answer one request after the other, by provider."""
        self._waits: Counter[tuple[str, SlotKind]] = Counter()
        """What waits and has said so, by session."""

    def set_limits(self, settings: Settings) -> None:
        """Go by these settings from now on."""
        self.model_calls.fair.set_limit(settings.most_model_calls)
        self.processes.fair.set_limit(settings.most_processes)

    @asynccontextmanager
    async def of_model(self, provider: ModelProvider, key: str, urgency: Urgency, tell: Tell) -> AsyncGenerator[None]:
        """A slot for one request to a provider."""
        if not provider.capabilities.answers_one_by_one:
            async with self.model_calls.held(key, urgency, tell):
                yield
            return
        alone = self._one_by_one.setdefault(provider.name, SlotGroup())
        async with alone.held(key, urgency, tell), self.model_calls.held(key, urgency, tell):
            yield

    @asynccontextmanager
    async def of_recall(self, settings: Settings, *, is_awaited: bool) -> AsyncGenerator[None]:
        """A slot for a request that is no session's: for vectors of texts, of a question if somebody waits for it."""
        self.set_limits(settings)
        urgency = Urgency("first" if is_awaited else "later")
        async with self.model_calls.held(_RECALL, urgency, lambda waits: None):
            yield

    def note(self, session: Asking, kind: SlotKind, turn_id: str | None, *, waits: bool) -> None:
        """Something in a session waits, or does no more; it is told when the first begins, and when the last ends."""
        key = (session.session_id, kind)
        before = self._waits[key]
        self._waits[key] = before + 1 if waits else max(0, before - 1)
        if not self._waits[key]:
            del self._waits[key]
        if bool(before) != (key in self._waits):
            session.emit(WaitingForSlot(kind=kind, is_over=not waits), turn_id)


@asynccontextmanager
async def model_slot(session: Asking, provider: ModelProvider, urgency: Urgency | None = None) -> AsyncGenerator[None]:
    """Hold a slot for one request of a session to a model; somebody waits for it if no `urgency` says otherwise."""
    slots, urgency = _slots_of(session), urgency or Urgency()
    async with slots.of_model(provider, session.principal.session_id, urgency, _telling(session, "model")):
        yield


@asynccontextmanager
async def command_slot(session: Asking) -> AsyncGenerator[None]:
    """Hold a slot for a command of a session, which may take long."""
    tell = _telling(session, "process")
    urgency = Urgency("later", is_shown=True)
    async with _slots_of(session).processes.held(session.principal.session_id, urgency, tell):
        yield


@asynccontextmanager
async def hook_slot(session: Asking) -> AsyncGenerator[None]:
    """Hold a slot for a hook of a session: it is short, and everything else waits for it."""
    tell = _telling(session, "process")
    async with _slots_of(session).processes.held(session.principal.session_id, Urgency(), tell):
        yield


def _slots_of(session: Asking) -> Slots:
    """The slots, by the settings of now."""
    services = session.services
    services.slots.set_limits(services.settings())
    return services.slots


def _telling(session: Asking, kind: SlotKind) -> Tell:
    """Tells those who follow a session what its turn waits for."""
    turn_id: str | None = None

    def tell(waits: bool) -> None:
        nonlocal turn_id
        if waits:
            job: Job[Any] | None = session.lane.current
            turn_id = job.job_id if job is not None and job.kind == "turn" else None
        session.services.slots.note(session, kind, turn_id, waits=waits)

    return tell
