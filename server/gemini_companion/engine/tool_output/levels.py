"""How much each of several may have when they must share a room: the small ones all they need, the large ones alike."""

from __future__ import annotations

from collections.abc import Sequence


def level(sizes: Sequence[int], room: int) -> int:
    """The highest level to which all sizes can be cut so that together they take at most `room`, at least 0.

    Where they fit as they are, that is the largest of them.
    """
    left, count = room, len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return max(0, left // count)
        left, count = left - size, count - 1
    return max(sizes, default=0)
