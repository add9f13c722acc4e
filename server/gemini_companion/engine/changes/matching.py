"""Which lines two texts have in common, in bounded work: a text of millions of lines takes seconds, never hours."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import Final, NamedTuple

_BUDGET: Final = 12_000_000
"""Steps of one comparison, each well under a microsecond. What is not compared by then counts as changed."""
_MOST_EDITS: Final = 1_000
"""Lines that are added or removed between two anchors; where there are more, all between them counts as changed."""
_SMALL: Final = 2_500
"""Pairs of lines up to which no anchors are looked for."""


class _Region(NamedTuple):
    """Lines `old[a:b]` against `new[c:d]`."""

    a: int
    b: int
    c: int
    d: int

    @property
    def pairs(self) -> int:
        return (self.b - self.a) * (self.d - self.c)


class LineMatcher(SequenceMatcher[bytes]):
    """A `SequenceMatcher` of lines: anchored at lines that occur once in both texts, with a
    shortest edit between them.

    Where its budget ends it takes lines for different that are the same: a diff is coarser, a merge tells a conflict.
    """

    def __init__(
        self, isjunk: object = None, a: Sequence[bytes] = (), b: Sequence[bytes] = (), autojunk: bool = False
    ) -> None:
        super().__init__(None, (), (), autojunk=False)
        self.a, self.b = a, b  # without difflib's index of the second one, which nothing here reads
        self._blocks: list[Match] | None = None

    def get_matching_blocks(self) -> list[Match]:
        """The blocks of equal lines, rising, with the empty one at the end that `SequenceMatcher` has too."""
        if self._blocks is None:
            joined: list[Match] = []
            for one in sorted(_matches(self.a, self.b)):
                last = joined[-1] if joined else None
                if last is not None and (last.a + last.size, last.b + last.size) == (one[0], one[1]):
                    joined[-1] = Match(last.a, last.b, last.size + one[2])
                else:
                    joined.append(Match(*one))
            self._blocks = [*joined, Match(len(self.a), len(self.b), 0)]
        return self._blocks


def _matches(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    left = _BUDGET
    regions = [_Region(0, len(old), 0, len(new))]
    while regions:
        region, ends = _trimmed(regions.pop(), old, new)
        yield from ends
        if not region.pairs or left <= 0:
            continue
        if region.pairs > _SMALL:
            left -= region.b - region.a + region.d - region.c
            if anchors := _anchors(region, old, new):
                yield from ((i, j, 1) for i, j in anchors)
                regions += _between(region, anchors)
                continue
        found, steps = _common(region, old, new, left)
        left -= steps
        yield from found


def _trimmed(region: _Region, old: Sequence[bytes], new: Sequence[bytes]) -> tuple[_Region, list[tuple[int, int, int]]]:
    """The region without the lines that it begins and ends with in both texts, and these."""
    a, b, c, d = region
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    ends = [(region.a, region.c, a - region.a), (b, d, region.b - b)]
    return _Region(a, b, c, d), [one for one in ends if one[2]]


def _anchors(region: _Region, old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """The longest rising run of lines that each text has once in the region."""
    of_old, of_new = _once(old, region.a, region.b), _once(new, region.c, region.d)
    pairs = sorted((at, of_new[line]) for line, at in of_old.items() if at >= 0 and of_new.get(line, -1) >= 0)
    ends: list[int] = []  # of the best run of each length, its last place in the new text
    at_end: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(at_end[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            at_end.append(number)
        else:
            ends[length], at_end[length] = place, number
    run: list[tuple[int, int]] = []
    number = at_end[-1] if at_end else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _once(lines: Sequence[bytes], start: int, end: int) -> dict[bytes, int]:
    """Where each line is; -1 if there are several."""
    places: dict[bytes, int] = {}
    for at in range(start, end):
        line = lines[at]
        places[line] = -1 if line in places else at
    return places


def _between(region: _Region, anchors: Sequence[tuple[int, int]]) -> list[_Region]:
    found: list[_Region] = []
    a, c = region.a, region.c
    for i, j in anchors:
        found.append(_Region(a, i, c, j))
        a, c = i + 1, j + 1
    found.append(_Region(a, region.b, c, region.d))
    return [one for one in found if one.pairs]


def _common(
    region: _Region, old: Sequence[bytes], new: Sequence[bytes], most: int
) -> tuple[list[tuple[int, int, int]], int]:
    """Myers' greedy search for the shortest edit, and the steps that it took. Nothing if it is a long one."""
    a, b, c, d = region
    width, height = b - a, d - c
    steps = 0
    rows: list[tuple[int, array[int]]] = []  # for each number of edits: its first diagonal, how far each second one got
    for edits in range(min(_MOST_EDITS, width + height) + 1):
        first = -edits if edits <= height else -height + (edits - height) % 2
        last = edits if edits <= width else width - (edits - width) % 2
        row = array("q")
        for diagonal in range(first, last + 1, 2):
            x = start = _from(rows[-1], diagonal, width, height) if rows else 0
            y = x - diagonal
            while 0 <= x < width and y < height and old[a + x] == new[c + y]:
                x, y = x + 1, y + 1
            row.append(x)
            steps += x - start + 1
            if x == width and y == height:
                rows.append((first, row))
                return _walked(rows, diagonal, region), steps
        if steps > most:
            break
        rows.append((first, row))
    return [], steps


def _from(row: tuple[int, array[int]], diagonal: int, width: int, height: int) -> int:
    """Where a diagonal is entered from its neighbours, furthest; -1 if it is not."""
    down, right = _reached(row, diagonal + 1), _reached(row, diagonal - 1) + 1
    if down - diagonal > height:
        down = -1
    if not 1 <= right <= width:
        right = -1
    return max(down, right)


def _reached(row: tuple[int, array[int]], diagonal: int) -> int:
    at = (diagonal - row[0]) // 2
    return row[1][at] if 0 <= at < len(row[1]) else -1


def _walked(rows: list[tuple[int, array[int]]], diagonal: int, region: _Region) -> list[tuple[int, int, int]]:
    """The equal lines on the way back from the end."""
    width, height = region.b - region.a, region.d - region.c
    found: list[tuple[int, int, int]] = []
    for number in range(len(rows) - 1, -1, -1):
        x = _reached(rows[number], diagonal)
        start = _from(rows[number - 1], diagonal, width, height) if number else 0
        if x > start:
            found.append((region.a + start, region.c + start - diagonal, x - start))
        if number:
            is_down = start == _reached(rows[number - 1], diagonal + 1) and start - diagonal <= height
            diagonal += 1 if is_down else -1
    return found
