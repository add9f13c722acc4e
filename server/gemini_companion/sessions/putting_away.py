"""Putting away of a session's log what its compressions hide: packed it takes a tenth of the room in memory.

Nothing of it is lost to anybody: what asks for an entry has it unpacked, and an undo has all of it in memory again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from gemini_companion.engine.history.block import Block, packed
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.putting_away import put_away, to_be_put_away
from gemini_companion.sessions.counts import keep_counts
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import Poll, in_thread, off_loop

if TYPE_CHECKING:
    from gemini_companion.engine.facts.retention import FactCache


async def put_away_hidden(session: Session) -> None:
    """Pack what no view shows, as long as nothing compresses the chat. Long histories take several goes."""
    history = session.history
    if not to_be_put_away(history, session.open_turns, must_be_kept=False):
        return
    await keep_counts(session)  # what is still to be kept stays
    cache: FactCache | None = vars(session).get("fact_cache")
    while _may(session):
        if not (to := to_be_put_away(history, session.open_turns)):
            if cache is not None:
                cache.keep_only({id(one.content) for one in (*history.sources.live, *history.items)})
            return
        epoch, gone = history.epoch, history.entries.gone
        some = list(takewhile(lambda entry: entry.seq <= to, history.entries.live))
        going = list(takewhile(lambda item: item.seq <= to, history.sources.live))
        blocks = await in_thread(partial(_packed, some, going, cache), units=len(some))
        is_same = (epoch, gone) == (history.epoch, history.entries.gone) and _may(session)
        if not is_same or to_be_put_away(history, session.open_turns) < to:
            continue
        reached = history.sources.past_to
        left = put_away(history, blocks, to)
        session.transcript.put_away(blocks)
        if cache is not None:
            from gemini_companion.engine.compression.sources import put_away as forget

            forget(left, cache)
        if not blocks and history.sources.past_to == reached:
            return  # nothing went: the next go would find the same


async def unpack_for(session: Session, undone: Sequence[str]) -> None:
    """Unpack, beside the event loop, what a view without these compressions shows."""
    sources, in_force = session.history.sources, session.history.in_force
    left = {key: entry for key, entry in in_force.items() if key not in undone}
    ahead = session.compressions.ahead
    if ahead.task is not None:
        ahead.task.cancel()  # it would pack what is shown from here on; it begins anew with the next rest
        await asyncio.wait({ahead.task})
    if not sources.is_past_hidden(left):
        take = await off_loop(sources.units, sources.unpacking)
        take()
        ahead.reached = 0  # other objects say the same now


def _packed(entries: Sequence[Entry], going: Sequence[Item], cache: FactCache | None, poll: Poll) -> list[Block]:
    if cache is not None:
        from gemini_companion.engine.compression.sources import find_open_tasks

        find_open_tasks(going, cache, poll)
    blocks: list[Block] = []
    for block in packed(entries):
        poll()
        blocks.append(block)
    return blocks


def _may(session: Session) -> bool:
    """Whether nothing reads the view to compress it, and the session is there."""
    return not session.is_gone and session.compressions.shown is None
