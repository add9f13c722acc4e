"""What survives a compression: the facts of the hidden span, looked for in what takes its place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.retention import measure_retention, text_of_content, wanted_facts
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import Retention
from gemini_companion.sessions.compression.summariser import sources_of
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import Poll, in_thread

logger = logging.getLogger(__name__)


class RetentionCheck:
    """Looks through the hidden contents in a thread, from the start on: the model takes longer to write its
    snapshot.
    """

    def __init__(self, session: Session, hidden: Sequence[Item]) -> None:
        self._cache = session.fact_cache
        self._pins = tuple(one.text for one in session.history.standing)
        self._hidden = tuple(hidden)
        self._sources: tuple[FactSource, ...] = ()
        self._looking = asyncio.create_task(in_thread(self._look), name=f"facts:{session.session_id}")

    async def measure(self, snapshot: str, tail: Sequence[Item]) -> Retention | None:
        """The retention of `snapshot`, with the rules in force and the tail beside it. `None` if it could not be
        measured, which is logged: that is no reason to give up a compression.
        """
        try:
            await self._looking
            return await in_thread(lambda poll: self._measured(snapshot, tail, poll))
        except Exception:
            logger.exception("Retention was not measured")
            return None

    def cancel(self) -> None:
        """Nobody will ask for it."""
        self._looking.cancel()

    def _look(self, poll: Poll) -> None:
        self._sources = sources_of(self._hidden)
        wanted_facts(self._sources, cache=self._cache, poll=poll)

    def _measured(self, snapshot: str, tail: Sequence[Item], poll: Poll) -> Retention:
        kept = (*self._pins, *(text_of_content(item.content) for item in tail))
        return measure_retention(self._sources, snapshot, kept, cache=self._cache, poll=poll)


async def measure_once(
    session: Session, hidden: Sequence[Item], snapshot: str, tail: Sequence[Item]
) -> Retention | None:
    """The retention of a snapshot that is there already."""
    return await RetentionCheck(session, hidden).measure(snapshot, tail)
