"""Making a session: either somebody is told of it, or nothing of it stays."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from gemini_companion.engine.errors import CompanionError, SessionNotFound

logger = logging.getLogger(__name__)


class Making:
    """Sessions that are being made. `delete` deletes one whose making was cancelled, or failed, after it was written.

    What the store writes cannot be stopped where it is, and it cannot be told from outside how far it came. So it is
    written to its end, and then deleted.
    """

    def __init__(self, delete: Callable[[str], Awaitable[object]]) -> None:
        self.untold: set[str] = set()
        """Ids of those that nobody was told of yet, and of those that nobody ever will be and that may still be in the
        store for a moment. For everybody but who makes them they are not there.
        """
        self._delete = delete
        self._deleting: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def written(self, session_id: str, write: Coroutine[Any, Any, int]) -> AsyncGenerator[int]:
        """What `write` returns, which writes a session. Nothing of it stays if the block does not end; whatever comes
        before somebody is told of the session belongs there. Raises what `write` raises.
        """
        self.untold.add(session_id)
        writing = asyncio.create_task(write, name=f"writing {session_id}")
        try:
            yield await asyncio.shield(writing)
        except (Exception, asyncio.CancelledError):
            deleting = asyncio.create_task(self._take_back(session_id, writing), name=f"deleting {session_id}")
            self._deleting.add(deleting)
            deleting.add_done_callback(self._deleting.discard)
            raise
        self.untold.discard(session_id)

    def require_told(self, session_id: str) -> None:
        """Raise `SessionNotFound` for one that nobody was told of: it may be gone at once."""
        if session_id in self.untold:
            raise SessionNotFound(
                "This chat is still being made, or its making was cancelled.", hint="List the chats again."
            )

    async def close(self) -> None:
        """Wait until those that were given up are gone. Raises nothing: the store is yet to be closed."""
        if self._deleting:
            await asyncio.wait(self._deleting)

    async def _take_back(self, session_id: str, writing: asyncio.Task[int]) -> None:
        try:
            await asyncio.wait({writing})
            if writing.exception() is None:  # else it is not there
                await self._delete(session_id)
        except CompanionError as fault:
            logger.warning("A chat whose making was given up could not be deleted: %s", fault)
        finally:
            self.untold.discard(session_id)
