"""`KeptEvents`: the events that a store keeps for replay."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import msgspec

from gemini_companion.adapters.storage import event_log
from gemini_companion.adapters.storage.event_log import EventKeeper
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.sessions.ports import StoredEvent, StoredEvents

_log = logging.getLogger(__name__)

_MAX_EVENTS: Final = 10_000
MAX_WAITING_SAVES: Final = 10_000
"""Saves of events that may wait for a slow disk; more are dropped, which loses only their replay."""

_MAX_NUMBER: Final = 2**62
"""Above any event number, within SQLite's integers."""


class KeptEvents:
    """What a store does with events; part of `SqliteStore`."""

    worker: Worker
    _events: EventKeeper
    _lost_events: dict[str, int]
    """By session, the highest number of an event that could not be stored."""

    async def reserve_event_seqs(self, session_id: str, count: int) -> int:
        """Reserve `count` event numbers, at least one; returns the first."""
        return await self.worker.run(
            "write", lambda connection: event_log.reserve(connection, session_id, max(count, 1))
        )

    def save_events(self, events: Sequence[StoredEvent]) -> None:
        """Store events for replay, soon and without waiting."""

        def lose() -> None:
            for event in events:
                self._lost_events[event.session_id] = max(event.seq, self._lost_events.get(event.session_id, 0))

        if self.worker.is_closed or self.worker.posts_waiting >= MAX_WAITING_SAVES:
            _log.warning(
                "%d events are not kept for replay: the store is %s.",
                len(events),
                "closed" if self.worker.is_closed else "too slow",
            )
            lose()
        elif events:
            self.worker.post(lambda connection: self._events.save(connection, events), on_failure=lose)

    async def events(self, session_id: str, after_seq: int, limit: int = _MAX_EVENTS) -> StoredEvents:
        """Read the stored events past `after_seq`, at most 10,000."""
        after, size = min(max(after_seq, 0), _MAX_NUMBER), min(max(limit, 1), _MAX_EVENTS)
        kept = await self.worker.run("read", lambda connection: self._events.read(connection, session_id, after, size))
        return msgspec.structs.replace(kept, truncated=True) if after < self._lost_events.get(session_id, 0) else kept
