"""The part of a view that appending cannot change any more, with what was summed up of it."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_companion.engine.history.curation import curate_round, round_end
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.item import Item, MeasureContent
from gemini_companion.engine.history.sendable import GrowingRequest
from gemini_companion.engine.history.totals import Totals, add_totals


class Settled(Fold):
    """Curated items. It only grows; a view that changes otherwise begins a new one."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        """Curated."""
        self.to = 0
        """They stand for so many items of the view that is not curated."""
        self.totals = Totals()
        """Their estimated tokens."""
        self.request = GrowingRequest()
        """Their contents as they are sent."""

    def extend(self, curated: Sequence[Item], to: int) -> None:
        """Add the next curated items, which stand for the view's up to `to`."""
        self.items.extend(curated)
        self.to = to
        self.totals = add_totals(self.totals, curated)
        self.request.extend(item.content for item in curated)

    def grow(self, items: Sequence[Item], measure: MeasureContent, most: int) -> bool:
        """Curate, once, the rounds of a view that appending cannot change any more: all but the last. About `most`
        items at a time; True when all are done.
        """
        start, fresh, to = self.to, list[Item](), self.to + most
        while (end := round_end(items, start)) < len(items) and start < to:
            fresh.extend(curate_round(items[start:end], measure, close=True))
            start = end
        if start != self.to:
            self.extend(fresh, start)
        return end >= len(items)
