"""Which of its parent's entries a fork begins with: as ranges of their numbers, so that no store writes them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from gemini_companion.engine.history.log import Entry

Ranges: TypeAlias = Sequence[tuple[int, int]]
"""Numbers of entries, rising: the first and the last of each range."""


def ranges_of(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """The numbers of these entries. Of a log without gaps it is told by its ends alone."""
    ranges: list[tuple[int, int]] = []
    waiting = [(0, len(entries))]
    while waiting:
        start, end = waiting.pop()
        if start == end:
            continue
        first, last = entries[start].seq, entries[end - 1].seq
        if last - first == end - start - 1:
            if ranges and ranges[-1][1] == first - 1:
                ranges[-1] = ranges[-1][0], last
            else:
                ranges.append((first, last))
        else:
            middle = (start + end) // 2
            waiting += [(middle, end), (start, middle)]
    return ranges
