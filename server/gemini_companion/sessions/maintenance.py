"""Work in the background: loading what is slow after the start, deleting sessions that may go, letting idle ones go."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.block import forget_unpacked
from gemini_companion.sessions.recall_store import RecallStore
from gemini_companion.sessions.retention import StoredSession, surplus
from gemini_companion.settings.session_retention import DAY_MS, SessionRetention

logger = logging.getLogger(__name__)

_EVERY_SECONDS: Final = 60.0


class SlowStarter(Protocol):
    """An object with modules to load or connections to make."""

    async def warm_up(self) -> None:
        """Load them. Raises `CompanionError`."""
        ...


class SweepableStore(Protocol):
    """A store that can delete sessions. Every method raises `CompanionError`."""

    async def stored(self, sized: Collection[str] | None = None) -> Sequence[StoredSession]:
        """Every session; sizes need be those of the ones named in `sized` alone, if that is given."""
        ...

    async def sweep(self, *, older_than_ms: int) -> int:
        """Delete the sessions that have not changed for that many milliseconds; returns their number."""
        ...

    async def remove_unused(self, sessions: Sequence[StoredSession]) -> int:
        """Delete those of them that are as they were found; returns their number."""
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


class Waiting(Sleeper, Protocol):
    """A clock to wait by that knows the time."""

    def now(self) -> int:
        """Milliseconds since 1970."""
        ...


async def keep_house(app: Housekeeper, clock: Sleeper) -> None:
    """Let go of idle sessions, and of what was unpacked for a moment, every minute, until cancelled."""
    while True:
        await clock.sleep(_EVERY_SECONDS)
        await app.let_go_idle()
        forget_unpacked()


async def redact_older(store: RedactableStore) -> None:
    """Take the secrets out of what was written before there was a vault.

    Faults go to the log: the next start goes on where this one ended.
    """
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


async def maintain(
    models: SlowStarter,
    store: SweepableStore,
    limits: Callable[[], SessionRetention],
    clock: Waiting,
    tell: Callable[[str], None],
) -> None:
    """Warm the models up, then keep sessions within limits until cancelled: the first prompt comes first."""
    await warm_up(models)
    await keep_within_limits(store, limits, clock, tell)


async def warm_up(models: SlowStarter) -> None:
    """Warm the models up. Faults go to the log."""
    try:
        await models.warm_up()
    except CompanionError as fault:
        logger.warning("Warming up failed: %s", fault.message)


async def keep_within_limits(
    store: SweepableStore,
    limits: Callable[[], SessionRetention],
    clock: Waiting,
    tell: Callable[[str], None],
) -> None:
    """Delete the sessions that may go, now and once a day until cancelled; `tell` gets a sentence if any went."""
    while True:
        try:
            if message := await _sweep(store, limits(), clock.now()):
                logger.info("%s", message)
                tell(message)
        except CompanionError as fault:
            logger.warning("Old sessions were not swept: %s", fault.message)
        await clock.sleep(DAY_MS / 1000)


async def _sweep(store: SweepableStore, limits: SessionRetention, now: int) -> str:
    """What was deleted, as a sentence for people; `""` for nothing."""
    aged = removed = 0
    if limits.max_age is not None:
        aged = await store.sweep(older_than_ms=max(limits.max_age, limits.min_age))
    if limits.max_sessions is not None or limits.max_bytes is not None:
        stored = await store.stored(frozenset() if limits.max_bytes is None else None)
        removed = await store.remove_unused(surplus(stored, limits, now))
    gone = aged + removed
    if not gone:
        return ""
    chats = "1 chat" if gone == 1 else f"{gone:,} chats"
    because = " and ".join(
        why for count, why in ((aged, "unused for too long"), (removed, "more than are kept")) if count
    )
    return (
        f"{chats} of this project went: {because}. The settings companion.sessions and general.sessionRetention say how"
        " long and how many are kept; `gemini-companion sessions keep ID` keeps one for good."
    )
