"""The real store of a process that is killed, or whose disk is full, at a write to the log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from gemini_companion.adapters.storage.store import SqliteStore
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.log import Entry


class Trouble(NamedTuple):
    """What happens at one of the writes to the log, counted from 0 with the step."""

    at: int
    kind: Literal["killed before", "killed after", "fault"]


class MortalStore:
    """The real store of a process that is killed at a write: from then on nothing of it reaches the disk."""

    def __init__(self, store: SqliteStore) -> None:
        self.real = store
        self.killed = asyncio.Event()
        self.is_gone = False
        """It is known that it was killed: what still runs of it may end."""
        self.trouble: Trouble | None = None
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    async def kill(self) -> None:
        """Kill it between two writes, and wait until what it had been given before is on the disk.

        Events are saved soon, by a thread: without the wait, a test would say how busy the machine is.
        """
        self.killed.set()
        self.is_gone = True
        await self.real.worker.run("read", lambda connection: None)

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        await self._alive()
        here = self.trouble if self.trouble is not None and self.trouble.at == self.writes else None
        self.writes += 1
        if here is not None and here.kind == "fault":
            raise StorageFault("The disk is full.")
        if here is not None and here.kind == "killed before":
            self.killed.set()
        await self._alive()
        await self.real.append(session_id, entries)
        if here is not None and self.trouble is here:  # nobody looks any more once its step is over
            self.killed.set()
        await self._alive()

    def save_events(self, events: Any) -> None:
        if not self.killed.is_set():
            self.real.save_events(events)

    async def save_meta(self, meta: Any) -> None:
        await self._alive()
        await self.real.save_meta(meta)

    async def _alive(self) -> None:
        while self.killed.is_set():
            if self.is_gone:
                raise StorageFault("This process was killed.")
            await asyncio.sleep(0)
