"""Composing a view: spans hidden, their replacements inserted, outputs cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item, ItemKind, MeasureContent, Shape
from gemini_companion.engine.history.log import CompressionEntry, PinEntry

PINS_INTRODUCTION: Final = "The user pinned these texts. They hold word for word:"


def compose(
    sources: Sequence[Item], in_force: dict[str, CompressionEntry], pins: dict[str, PinEntry], measure: MeasureContent
) -> list[Item]:
    """The items of a view: `sources` with what the compressions in force hide, replace and cut.

    `sources` are sorted by `seq`; both dictionaries are keyed by id, oldest first.
    """
    covered = {covered_id for compression in in_force.values() for covered_id in compression.covers}
    hiding = [c for c in in_force.values() if c.hides is not None and c.compression_id not in covered]
    items = list(sources)
    for compression in hiding:
        if compression.hides is not None:
            low, high = _bounds(items, *compression.hides)
            kept = (
                [
                    item
                    for item in items[low:high]
                    if item.seq in compression.keeps and item.kind not in REPLACEMENT_KINDS
                ]
                if compression.keeps
                else []
            )
            shown = pins if compression is hiding[-1] else {}  # once, however many snapshots stand
            items[low:high] = [*kept, *_replacement(compression, shown, measure)]
    outputs: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for compression in in_force.values():  # of an output that was cut twice the newer cut holds
        for cut in compression.cuts:
            outputs[cut.seq][cut.part] = cut.output
    if not outputs:
        return items
    return [
        item.with_outputs(outputs[item.seq], measure) if item.seq in outputs and item.shape is Shape.RESULTS else item
        for item in items
    ]


def _replacement(compression: CompressionEntry, pins: dict[str, PinEntry], measure: MeasureContent) -> list[Item]:
    def item(content: Content, kind: ItemKind) -> Item:
        seq = compression.hides[0] if compression.hides else compression.seq
        return Item(
            content,
            seq=seq,
            entry_id=compression.id,
            kind=kind,
            measure=measure(content),
            compression_id=compression.compression_id,
        )

    kinds: list[ItemKind] = [
        "snapshot" if index == compression.snapshot_at else "acknowledgement"
        for index in range(len(compression.replacement))
    ]
    items = [item(content, kind) for content, kind in zip(compression.replacement, kinds, strict=True)]
    if pins:
        items.insert(compression.snapshot_at + 1, item(pins_content(pins.values()), "pin"))
    return items


def pins_content(pins: Iterable[PinEntry]) -> Content:
    """The user content that holds pinned texts: an introduction, then each in a part of its own, word for word."""
    intro = user_text(PINS_INTRODUCTION)
    return Content(role="user", parts=(*intro.parts, *({"text": pin.text} for pin in pins)))


def _bounds(items: Sequence[Item], first: int, last: int) -> tuple[int, int]:
    return bisect_left(items, first, key=_seq), bisect_right(items, last, key=_seq)


def span(items: Sequence[Item], first: int, last: int) -> Sequence[Item]:
    """The items from `first` to `last`, sequence numbers, both inclusive."""
    low, high = _bounds(items, first, last)
    return items[low:high]


def before_seq(items: Sequence[Item], seq: int) -> Sequence[Item]:
    """The items whose sequence number is below `seq`."""
    return items[: bisect_left(items, seq, key=_seq)]


def from_seq(items: Sequence[Item], seq: int) -> Sequence[Item]:
    """The items whose sequence number is `seq` or above."""
    return items[bisect_left(items, seq, key=_seq) :]


def tail_of_turn(items: Sequence[Item], turn_id: str) -> list[Item]:
    """The items at the end of `items` that belong to the turn, in order."""
    tail: list[Item] = []
    for item in reversed(items):
        if item.turn_id != turn_id:
            break
        tail.append(item)
    return tail[::-1]


def _seq(item: Item) -> int:
    return item.seq
