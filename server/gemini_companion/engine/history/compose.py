"""Composing a view: spans hidden, their replacements inserted, outputs cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.covering import outermost_of
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item, ItemKind, MeasureContent, Shape
from gemini_companion.engine.history.log import CompressionEntry


def compose(sources: Sequence[Item], in_force: Mapping[str, CompressionEntry], measure: MeasureContent) -> list[Item]:
    """The items of a view but for the pinned texts: `sources` with what the compressions in force hide, replace, cut.

    `sources` are sorted by `seq`; `in_force` is keyed by id, oldest first.
    """
    hiding = [compression for compression in outermost_of(in_force) if compression.hides is not None]
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
            items[low:high] = [*kept, *_replacement(compression, measure)]
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


def _replacement(compression: CompressionEntry, measure: MeasureContent) -> list[Item]:
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
    return [item(content, kind) for content, kind in zip(compression.replacement, kinds, strict=True)]


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


def origins(item: Item, compression: CompressionEntry | None, sources: Sequence[Item]) -> tuple[str, ...]:
    """Ids of the entries that an item represents: its own; of a replacement all that its compression hides."""
    if compression is None or compression.hides is None or compression.from_file:
        return (item.entry_id,)
    if item.kind not in REPLACEMENT_KINDS:
        return (item.entry_id,)
    hidden = span(sources, *compression.hides)
    return tuple(one.entry_id for one in hidden if one.seq not in compression.keeps)


def newest_results(items: Sequence[Item]) -> list[Item]:
    """The items at the end of `items` that the model has not answered, in order."""
    tail: list[Item] = []
    for item in reversed(items):
        if item.content.role == "model":
            break
        tail.append(item)
    return tail[::-1]


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
