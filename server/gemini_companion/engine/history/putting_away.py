"""Putting away of a log what no view shows, and nothing will change any more: packed it takes a tenth of the room."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final

from gemini_companion.engine.history.block import ENTRIES, Block
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.view import History

FEWEST: Final = 256
"""Entries that are worth it."""
MOST_ENTRIES: Final = 1_024
"""Entries that are looked at and packed in one go: some twenty milliseconds for short ones, in a thread."""
AT_ONCE: Final = 16
"""Blocks of items that go at once: some milliseconds on the event loop."""
MOST_ITEMS: Final = AT_ONCE * ENTRIES
"""Items that are looked at and go at once, at most: those of so many blocks."""


def to_be_put_away(history: History, open_turns: Collection[str], *, must_be_kept: bool = True) -> int:
    """The sequence number up to which the log can be put away next; 0 where it is not worth it.

    Compressions in force must hide all of it from the first content on, but for what they keep. Turns that may still
    lose contents stay: open ones, the newest, one that is excluded. So do contents whose sizes nobody has kept yet,
    unless they are to be kept first (`must_be_kept`).
    """
    sources, in_force, entries = history.sources, history.in_force, history.entries
    if not in_force or history.excluded_from is not None or not sources.is_past_hidden(in_force):
        return 0
    hiding = [one.hides for one in in_force.outermost if one.hides is not None]
    first = sources[0].seq if sources else 0
    to = max((last for begin, last in hiding if begin <= first), default=0)
    kept_to = history.counting.kept_to
    if must_be_kept and kept_to is not None:
        to = min(to, kept_to)

    def is_worth_it() -> bool:
        place = bisect_right(sources.live, to, lo=sources.shown, key=_seq)
        return max(entries.place_of(to + 1) - entries.gone, place - sources.shown) >= FEWEST

    if not is_worth_it():
        return 0
    if entries.live:
        to = min(to, entries.live[min(len(entries.live), MOST_ENTRIES) - 1].seq)
    turns, live, begin = {*open_turns, history.newest_turn}, sources.live, sources.shown
    if len(live) > begin + MOST_ITEMS:  # an undo had brought them back, and their entries are packed still
        to = min(to, live[begin + MOST_ITEMS - 1].seq)
    # What is put away already is of other turns; should one be the newest again and go, all is unpacked for that.
    behind = islice(live, begin, bisect_right(live, to, lo=begin, key=_seq))
    to = min(to, next((item.seq - 1 for item in behind if item.turn_id in turns), to))
    return to if is_worth_it() else 0


def put_away(history: History, blocks: Sequence[Block], to: int) -> list[Item]:
    """Keep the entries of these blocks, the oldest that are not put away yet, in them alone.

    The last one must not reach behind `to`, which is of `to_be_put_away`. Gives the items that are gone, also those
    that an undo had brought back; the view is the same.
    """
    history.entries.put_away(blocks)
    history.prompts.put_away(history.entries.blocks)  # an undo, or an answer given anew, may have unpacked earlier ones
    history.masks.forget_made(to)
    shown = {item.seq for item in history.items if item.seq <= to and item.compression_id is None}
    behind = (block for block in history.entries.blocks if history.sources.past_to < block.last <= to)
    return history.sources.put_away([*islice(behind, AT_ONCE)], shown, history.counting.counted)


def _seq(item: Item) -> int:
    return item.seq
