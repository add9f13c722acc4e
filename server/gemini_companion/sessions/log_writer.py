"""`LogWriter`: writes the entries of one session, in order, each under its number."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.use import last_use
from gemini_companion.sessions.services import Services

Draft: TypeAlias = Callable[[int], Entry]
"""Makes an entry of its sequence number."""


class LogWriter:
    """Writes to the log of one session, one write at a time."""

    def __init__(self, session_id: str, services: Services) -> None:
        self._session_id = session_id
        self._services = services
        self._lock = asyncio.Lock()
        self._left: list[Draft] = []
        """What could not be written, to be written ahead of the next entries."""
        self.last_use = 0
        """When the session was used last, ms since 1970, by what was written here; the store has that time too."""

    @property
    def is_writing(self) -> bool:
        """True while entries are written."""
        return self._lock.locked()

    @property
    def has_left(self) -> bool:
        """True while something is still to be written."""
        return bool(self._left)

    def leave(self, drafts: Sequence[Draft]) -> None:
        """Queue entries, to be written ahead of the next ones."""
        self._left.extend(drafts)

    async def write(
        self,
        drafts: Sequence[Draft],
        version: Callable[[], int],
        take_in: Callable[[Entry], None],
        *,
        swallow_cancel: bool,
    ) -> list[Entry]:
        """Write entries durably, numbered from the log's `version` on, then give each to `take_in`.

        See `Session.append` and `Session.commit`.
        """
        task = asyncio.create_task(self._write(drafts, version, take_in), name=f"append:{self._session_id}")
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            if swallow_cancel:
                return task.result()
            task.exception()
            raise

    async def _write(
        self, drafts: Sequence[Draft], version: Callable[[], int], take_in: Callable[[Entry], None]
    ) -> list[Entry]:
        async with self._lock:
            seq, left = version(), len(self._left)
            entries = [draft(seq + number) for number, draft in enumerate([*self._left, *drafts], start=1)]
            await self._services.store.append(self._session_id, entries)
            del self._left[:left]  # more may have been queued meanwhile
            self.last_use = max(self.last_use, last_use(entries) or 0)
            for entry in entries:
                take_in(entry)
            return entries[len(entries) - len(drafts) :]
