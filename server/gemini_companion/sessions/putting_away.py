"""Putting away of a session's log what its compressions hide: packed it takes a tenth of the room in memory.

Nothing of it is lost to anybody: what asks for an entry has it unpacked, and an undo has all of it in memory again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from gemini_companion.engine.history.block import Block, packed
from gemini_companion.engine.history.log import ContentEntry, Entry
from gemini_companion.engine.history.putting_away import put_away, to_be_put_away
from gemini_companion.sessions.counts import keep_counts
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import Poll, in_thread, off_loop

if TYPE_CHECKING:
    from gemini_companion.engine.facts.retention import FactCache

logger = logging.getLogger(__name__)

AT_ONCE: Final = 1_024
"""Entries that are packed in one go, in a thread: some twenty milliseconds for short ones."""


async def put_away_hidden(session: Session) -> None:
    """Pack what no view shows, as long as nothing compresses the chat. Long histories take several goes."""
    history, preparations = session.history, session.compressions.preparations
    if history.epoch == preparations.put_away_in or not history.in_force:
        return  # nothing else is hidden than was then
    preparations.put_away_in = history.epoch
    await keep_counts(session)  # what is still to be kept stays
    while to := _to(session):
        epoch, gone, live = history.epoch, history.entries.gone, history.entries.live
        some = list(takewhile(lambda entry: entry.seq <= to, live[:AT_ONCE]))
        cache: FactCache | None = vars(session).get("fact_cache")
        blocks = await in_thread(partial(_packed, some, cache), units=len(some))
        if (epoch, gone) != (history.epoch, history.entries.gone) or _to(session) < to:
            continue
        left = put_away(history, blocks, to)
        session.transcript.put_away(blocks)
        if cache is not None:
            from gemini_companion.engine.compression.sources import put_away as forget

            forget(left, cache)
        if not blocks and not left:
            return
        if sum(map(len, blocks)) < len(some):
            logger.warning("An entry behind %d does not come back as it is: it stays in memory, and all behind it", to)
            return


async def unpack_for(session: Session, undone: Sequence[str]) -> None:
    """Unpack, beside the event loop, what a view without these compressions shows."""
    sources, in_force = session.history.sources, session.history.in_force
    left = {key: entry for key, entry in in_force.items() if key not in undone}
    if not sources.is_past_hidden(left):
        take = await off_loop(len(sources), sources.unpacking)
        take()


def _packed(entries: Sequence[Entry], cache: FactCache | None, poll: Poll) -> list[Block]:
    """Before a content goes it is looked at once more for what a later compression would have it unpacked for."""
    if cache is not None:
        for entry in entries:
            if isinstance(entry, ContentEntry):
                cache.said_in(entry.content, poll)
    blocks: list[Block] = []
    for block in packed(entries):
        poll()
        blocks.append(block)
    return blocks


def _to(session: Session) -> int:
    """The sequence number up to which the log may be put away now, 0 for nothing."""
    if session.is_gone or session.compressions.shown is not None:
        return 0
    return to_be_put_away(session.history, session.open_turns)
