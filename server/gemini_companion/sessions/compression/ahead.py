"""Looking through a chat ahead of its compression: facts are found while nothing goes on, and kept in memory.

A compression that begins before that is done does the rest itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.item import Item
from gemini_companion.sessions.putting_away import put_away_hidden
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import Poll, in_thread, load

if TYPE_CHECKING:
    from gemini_companion.engine.facts.retention import FactCache

logger = logging.getLogger(__name__)

AHEAD_SHARE: Final = 0.5
"""Share of the trigger from which on a chat is looked through ahead: many that are smaller are never compressed."""

AT_ONCE: Final = 64
"""Contents that are looked through in one go: beside what is begun meanwhile it goes on to its end."""
TOKENS_AT_ONCE: Final = 50_000
"""Tokens of them, or a single content: of outputs of a megabyte each, 64 would take seconds."""


def look_ahead(session: Session) -> None:
    """Begin to look through what was not looked through yet, unless something runs, or the session was ended."""
    ahead = session.compressions.ahead
    if ahead.is_allowed and is_free(session) and (ahead.task is None or ahead.task.done()):
        ahead.task = asyncio.create_task(_look(session), name=f"ahead:{session.session_id}")


def is_free(session: Session) -> bool:
    """Whether nothing goes on in a session that is this process's: no turn, and nothing that compresses it.

    One that was merely read is read anew by the next who asks for it.
    """
    is_held = session.services.store.holds(session.session_id)
    return is_held and session.lane.is_idle and session.compressions.shown is None


async def _look(session: Session) -> None:
    ahead = session.compressions.ahead
    try:
        await put_away_hidden(session)
        if not _may_be_compressed(session):
            return
        await load("gemini_companion.engine.compression.sources")
        items, cache = session.history.sources.copied(), session.fact_cache
        at = ahead.reached if ahead.reached <= len(items) else 0
        while at < len(items) and is_free(session):
            some = _together(items, at)
            await in_thread(partial(_look_through, cache, some))
            ahead.reached = at = at + len(some)
    except CompanionError as fault:
        logger.info("Nothing was looked through ahead: %s", fault.message)
    except Exception:
        logger.exception("Nothing was looked through ahead")


def _together(items: Sequence[Item], at: int) -> Sequence[Item]:
    """What is looked through next, in one go."""
    end, tokens = at, 0
    while end < min(at + AT_ONCE, len(items)) and tokens < TOKENS_AT_ONCE:
        tokens += items[end].measure.tokens
        end += 1
    return items[at:end]


def _look_through(cache: FactCache, items: Sequence[Item], poll: Poll) -> None:
    from gemini_companion.engine.compression.sources import sources_of

    cache.look_through(sources_of(items, cache), poll)
    sum(item.weight for item in items)  # each is worked out when it is first asked for


def _may_be_compressed(session: Session) -> bool:
    choice = session.choice()
    trigger = session.mark(choice).tokens
    return trigger is not None and session.token_count(choice).tokens >= AHEAD_SHARE * trigger
