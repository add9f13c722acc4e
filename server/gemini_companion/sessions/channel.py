"""A session's events on their way out: numbered, sent to subscribers, stored for replay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.events import Event, MessageDelta, ThoughtDelta
from gemini_companion.sessions.ports import Clock, SessionStore, StoredEvent

EVENT_NUMBERS: Final = 100_000
"""Event numbers reserved at a time; a crash leaves a gap of at most as many."""
KEPT_EVERY_MS: Final = 2_000
"""So much of an answer may be lost when the process is killed: what goes on for longer is stored as far as it came."""


class _Delta(NamedTuple):
    event: MessageDelta | ThoughtDelta
    seq: int
    time: int
    turn_id: str | None


class EventChannel:
    """Emits a session's events.

    Their numbers rise strictly, also over restarts, because they are reserved durably before they are used. `first` is
    the first of `EVENT_NUMBERS` that are reserved. `observe` sees every event too, and returns at once.
    """

    def __init__(
        self,
        session_id: str,
        store: SessionStore,
        clock: Clock,
        subscribers: Callable[[str], Iterable[Client]],
        first: int,
        observe: Callable[[str, int, str | None, Event], None] = lambda session_id, time, turn_id, event: None,
    ) -> None:
        self._session_id = session_id
        self._store = store
        self._clock = clock
        self._subscribers = subscribers
        self._observe = observe
        self._seq = first
        self._limit = first + EVENT_NUMBERS
        self._reserving: asyncio.Task[None] | None = None
        self._deltas: list[_Delta] = []
        """Those since the last other event."""
        self._stored_deltas = 0
        """How many of them are stored."""
        self._stored_at = 0
        """When something was stored last."""
        self.listener: Callable[[Event, str | None], None] | None = None
        """Gets every event and its turn too; the chat that a subagent works for."""

    def subscribers(self) -> Iterable[Client]:
        """The clients that are subscribed to this session."""
        return self._subscribers(self._session_id)

    def emit(self, event: Event, turn_id: str | None = None) -> None:
        """Send an event to every subscriber that wants it, at once and in order, and store it for replay."""
        seq, time = self._number(), self._clock.now()
        if isinstance(event, MessageDelta | ThoughtDelta):
            self._deltas.append(_Delta(event, seq, time, turn_id))
            if not 0 <= time - self._stored_at < KEPT_EVERY_MS:  # clocks are set back, too
                self._store_deltas()
                self._stored_at = time
        else:
            self.keep_deltas()
            self._keep(event, seq, time, turn_id)
            self._stored_at = time
        if self.listener is not None:
            self.listener(event, turn_id)
        self._observe(self._session_id, time, turn_id, event)
        kind = str(event.__struct_config__.tag)
        for client in self.subscribers():
            if client.wants(kind):
                client.sink.event(self._session_id, seq, time, turn_id, event)

    def keep_deltas(self) -> None:
        """Store the deltas so far for replay, and begin anew.

        A run of one kind, attempt and turn becomes one event, under the number of its last; a long one becomes several.
        """
        self._store_deltas()
        self._deltas, self._stored_deltas = [], 0

    def _store_deltas(self) -> None:
        deltas, self._stored_deltas = self._deltas[self._stored_deltas :], len(self._deltas)
        events: list[StoredEvent] = []
        for _, group in groupby(deltas, key=lambda delta: (type(delta.event), delta.event.attempt, delta.turn_id)):
            run = list(group)
            text = "".join(delta.event.text for delta in run)
            last = run[-1]
            events.append(
                self._stored(msgspec.structs.replace(last.event, text=text), last.seq, last.time, last.turn_id)
            )
        if events:
            self._store.save_events(events)

    def pending(self) -> list[StoredEvent]:
        """The deltas since the last other event, one by one, whether they are stored already or not."""
        return [self._stored(*delta) for delta in self._deltas]

    def _keep(self, event: Event, seq: int, time: int, turn_id: str | None) -> None:
        self._store.save_events([self._stored(event, seq, time, turn_id)])

    def _stored(self, event: Event, seq: int, time: int, turn_id: str | None) -> StoredEvent:
        return StoredEvent(
            session_id=self._session_id, seq=seq, time=time, event=msgspec.to_builtins(event), turn_id=turn_id
        )

    def _number(self) -> int:
        seq = self._seq
        self._seq += 1
        if self._limit - seq < EVENT_NUMBERS // 2 and (self._reserving is None or self._reserving.done()):
            self._reserving = asyncio.create_task(self._reserve(), name=f"events:{self._session_id}")
        return seq

    async def _reserve(self) -> None:
        try:
            first = await self._store.reserve_event_seqs(self._session_id, EVENT_NUMBERS)
        except CompanionError:
            return  # the next event tries again; half of the numbers are left
        self._limit = max(self._limit, first + EVENT_NUMBERS)
