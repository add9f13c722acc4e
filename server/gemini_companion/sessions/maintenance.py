"""Work in the background: loading what is slow and deleting old sessions after the start, then letting idle ones go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.ports import RecallStore

logger = logging.getLogger(__name__)

DAY_MS: Final = 24 * 60 * 60 * 1000
_EVERY_SECONDS: Final = 60.0


class SlowStarter(Protocol):
    """An object with modules to load or connections to make."""

    async def warm_up(self) -> None:
        """Load them. Raises `CompanionError`."""
        ...


class SweepableStore(Protocol):
    """A store that can delete old sessions."""

    async def sweep(self, *, older_than_ms: int) -> object:
        """Delete the sessions that have not changed for that many milliseconds. Raises `CompanionError`."""
        ...


class RecallableStore(Protocol):
    """A store that can index what was said before it knew how to."""

    @property
    def recall(self) -> RecallStore:
        """What does it."""
        ...


class RedactableStore(Protocol):
    """A store that can take the secrets out of what was written before."""

    async def redact_older(self) -> None:
        """Do what is left of that. Raises `CompanionError`."""
        ...


class Housekeeper(Protocol):
    """What keeps sessions in memory."""

    async def let_go_idle(self) -> None:
        """Let go of those that nobody uses."""
        ...


class Sleeper(Protocol):
    """A clock to wait by."""

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""
        ...


async def keep_house(app: Housekeeper, clock: Sleeper) -> None:
    """Let go of idle sessions, every minute, until cancelled."""
    while True:
        await clock.sleep(_EVERY_SECONDS)
        await app.let_go_idle()


async def redact_older(store: RedactableStore, load: Callable[[], None]) -> None:
    """Take the secrets out of what was written before there was a vault; `load` has what takes long at first.

    Faults go to the log: the next start goes on where this one ended.
    """
    await asyncio.to_thread(load)
    try:
        await store.redact_older()
    except CompanionError as fault:
        logger.warning("Earlier chats still have the secrets that stand in them: %s", fault.message)


async def index_for_recall(store: RecallableStore) -> None:
    """Index what an earlier version wrote, so that the first search does not wait. Faults go to the log."""
    try:
        await store.recall.index()
    except CompanionError as fault:
        logger.warning("Earlier chats were not indexed: %s", fault.message)


async def maintain(models: SlowStarter, store: SweepableStore, *, retention_days: int | None) -> None:
    """Warm the models up, then delete sessions older than `retention_days` (`None` keeps all). Faults go to the log."""
    try:
        await models.warm_up()
    except CompanionError as fault:
        logger.warning("Warming up failed: %s", fault.message)
    if retention_days is None:
        return
    try:
        await store.sweep(older_than_ms=retention_days * DAY_MS)
    except CompanionError as fault:
        logger.warning("Old sessions were not swept: %s", fault.message)
