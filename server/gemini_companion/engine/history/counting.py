"""The sizes of a log's contents: what is known from before is taken, the rest is measured, and noted to be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.item import Counted, Item, ItemKind, MeasureContent, Shape
from gemini_companion.engine.history.log import ContentEntry
from gemini_companion.engine.history.part import is_thought
from gemini_companion.engine.history.sources import PastItem


class StoredCounts(NamedTuple):
    """What a store knows of the sizes of a log's contents, by sequence number."""

    known: Mapping[int, Counted] = {}
    """Sizes of exactly these contents, by the rules of counting that hold now."""
    prints: Mapping[int, int] = {}
    """Of the others, checksums of what was read, by which a size can be stored for it."""


class Fresh(NamedTuple):
    """A content that was measured, and whose size nobody has kept yet."""

    entry: ContentEntry
    item: Item
    checksum: int | None
    """Of what was read of it; `None` for an entry that was not read but written."""


class Counting(Fold):
    """Makes the items of a log's contents."""

    def __init__(self, measure: MeasureContent, stored: StoredCounts | None = None) -> None:
        self._measure = measure
        known, prints = stored or StoredCounts()
        self._known, self._prints = dict(known), dict(prints)
        self._fresh: list[Fresh] = []

    def item_of(self, entry: ContentEntry, kind: ItemKind) -> Item:
        """The item of an entry of the log."""
        counted = self._known.pop(entry.seq, None)
        item = Item(
            entry.content,
            seq=entry.seq,
            entry_id=entry.id,
            turn_id=entry.turn_id,
            kind=kind,
            measure=self._measure(entry.content) if counted is None else counted.whole,
        )
        if counted is None:
            self._fresh.append(Fresh(entry, item, self._prints.pop(entry.seq, None)))
        else:
            item.bare = counted.bare
        return item

    def measure_with(self, measure: MeasureContent) -> None:
        """Use another estimate from now on."""
        self._measure = measure

    def take_fresh(self, most: int) -> list[Fresh]:
        """So many of the oldest that are still to be kept, each once."""
        taken, self._fresh = self._fresh[:most], self._fresh[most:]
        return taken

    def go_back(self, seq: int) -> None:
        """Forget what comes behind an entry."""
        self._fresh = [one for one in self._fresh if one.entry.seq <= seq]

    @property
    def kept_to(self) -> int | None:
        """The entry before the first whose size is still to be kept; `None` where there is none."""
        return self._fresh[0].entry.seq - 1 if self._fresh else None

    @property
    def has_fresh(self) -> bool:
        """True while there are sizes to be kept."""
        return bool(self._fresh)

    def counted(self, item: Item) -> Counted:
        """What is to be kept of an item of the log: its size, and that without thoughts."""
        if not isinstance(item, PastItem) and item.bare is None and item.shape is Shape.THOUGHTS:
            item.bare = self._measure(_without_thoughts(item.content))
        return Counted(item.measure, item.bare)


def _without_thoughts(content: Content) -> Content:
    return Content(role=content.role, parts=tuple(part for part in content.parts if not is_thought(part)))
