"""The difference of two texts as a unified diff, and the text that a diff makes of another.

`difflib` finds the differences, in what is left between the lines that both texts begin and end with. Its time grows
with the product of the two, so that beyond a bound all of that counts as changed. Only line feeds end lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from gemini_companion.engine.errors import InvalidInput

_CONTEXT: Final = 2
"""Lines around a change that did not change."""
_MOST_COMPARED: Final = 40_000
"""Lines of the one text times lines of the other."""

_HUNK: Final = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) \+(\d{1,9}),(\d{1,9}) @@")


class _Change(NamedTuple):
    """`before[first:last]` becomes `now[new_first:new_last]`."""

    first: int
    last: int
    new_first: int
    new_last: int


def unified_diff(before: str, now: str, *, before_line: int = 1, now_line: int = 1) -> str:
    """What turns `before` into `now`; empty if they are equal.

    `before_line` and `now_line` are the numbers of their first lines.
    """
    old, new = before.split("\n"), now.split("\n")
    written: list[str] = []
    for hunk in _hunks(_changes(old, new)):
        lead = min(_CONTEXT, hunk[0].first)
        trail = min(_CONTEXT, len(old) - hunk[-1].last)
        first, last = hunk[0].first - lead, hunk[-1].last + trail
        new_first, new_last = hunk[0].new_first - lead, hunk[-1].new_last + trail
        place = f"-{before_line + first},{last - first} +{now_line + new_first},{new_last - new_first}"
        written.append(f"@@ {place} @@")
        at = first
        for change in hunk:
            written += [f" {line}" for line in old[at : change.first]]
            written += [f"-{line}" for line in old[change.first : change.last]]
            written += [f"+{line}" for line in new[change.new_first : change.new_last]]
            at = change.last
        written += [f" {line}" for line in old[at:last]]
    return "\n".join(written)


def patched(before: str, diff: str, *, before_line: int = 1) -> str:
    """The text that `unified_diff` was given as `now`. Raises `InvalidInput` if the diff is not one of `before`."""
    old = before.split("\n")
    made: list[str] = []
    lines = iter(diff.split("\n") if diff else ())
    at = 0
    for header in lines:
        match = _HUNK.fullmatch(header)
        if match is None:
            raise InvalidInput("This is no unified diff.")
        first = int(match[1]) - before_line
        if not at <= first <= len(old):
            raise InvalidInput("A diff is not about the text that stands before it.")
        made += old[at:first]
        at = first + int(match[2])
        taken, added = list(_sides(lines, int(match[2]), int(match[4])))
        if taken != old[first:at]:
            raise InvalidInput("A diff is not about the text that stands before it.")
        made += added
    return "\n".join([*made, *old[at:]])


def _sides(lines: Iterator[str], before: int, now: int) -> tuple[list[str], list[str]]:
    """The lines of a hunk that stand in the text before and after it."""
    taken: list[str] = []
    added: list[str] = []
    while len(taken) < before or len(added) < now:
        line = next(lines, None)
        if line is None or line[:1] not in (" ", "-", "+"):
            raise InvalidInput("This is no unified diff.")
        if line[0] != "+":
            taken.append(line[1:])
        if line[0] != "-":
            added.append(line[1:])
    return taken, added


def _changes(old: list[str], new: list[str]) -> list[_Change]:
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    rest = shorter - head
    tail = next((index for index in range(rest) if old[-1 - index] != new[-1 - index]), rest)
    last, new_last = len(old) - tail, len(new) - tail
    if (last - head) * (new_last - head) > _MOST_COMPARED:
        return [_Change(head, last, head, new_last)]
    from difflib import SequenceMatcher  # of use to few: texts that differ

    matcher = SequenceMatcher(None, old[head:last], new[head:new_last], autojunk=False)
    return [
        _Change(first + head, end + head, new_first + head, new_end + head)
        for kind, first, end, new_first, new_end in matcher.get_opcodes()
        if kind != "equal"
    ]


def _hunks(changes: list[_Change]) -> list[list[_Change]]:
    """Changes whose context would touch, together."""
    hunks: list[list[_Change]] = []
    for change in changes:
        if hunks and change.first - hunks[-1][-1].last <= 2 * _CONTEXT:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    return hunks
