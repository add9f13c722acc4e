"""The places of a file that are most like a text that is not in it, as a model can correct itself by them."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

import msgspec

_WINDOWS: Final = 3
_SHOWN_LINES: Final = 14
_SHOWN_CHARACTERS: Final = 200
_MOST_LINES: Final = 20_000
"""Lines of a file among which is looked."""
_MOST_WANTED: Final = 200
_WORD: Final = re.compile(r"\w+")
_COMPARED: Final = 1_000
"""Characters of two lines that are compared sign by sign."""
TAB: Final = "→"
"""What a tab is shown as."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a file that are like those searched for."""

    first: int
    """From 1."""
    lines: tuple[str, ...]
    difference: str
    """The first one, in words."""


def nearest(text: str, old: str) -> list[Window]:
    """At most three windows, the most like one first. Both texts have line feeds alone."""
    wanted = old.strip("\n").split("\n")[:_MOST_WANTED]
    lines = text.split("\n")[:_MOST_LINES]
    scores = _votes(lines, wanted)
    best = heapq.nlargest(8 * _WINDOWS, scores.items(), key=lambda item: (item[1], -item[0]))
    chosen: list[int] = []
    for at, _ in best:
        if all(abs(at - other) >= min(len(wanted), 5) for other in chosen):
            chosen.append(at)
        if len(chosen) == _WINDOWS:
            break
    return [_window(lines, wanted, at) for at in chosen]


def shown(windows: Sequence[Window]) -> str:
    """The windows, their lines numbered, with tabs to be seen."""
    texts: list[str] = []
    for window in windows:
        numbered = [
            f"{window.first + index:>5}: {visible(line)}" for index, line in enumerate(window.lines[:_SHOWN_LINES])
        ]
        more = len(window.lines) - _SHOWN_LINES
        if more > 0:
            numbered.append(f"       and {more} more lines")
        texts.append("\n".join([*numbered, f"       {window.difference}"]))
    return "\n\n".join(texts)


def visible(line: str) -> str:
    """A line with its tabs, carriage returns and no-break spaces to be seen, cut if it is long."""
    line = line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"
    return line.replace("\t", TAB).replace("\r", "␍").replace("\u00a0", "⍽")


def _votes(lines: Sequence[str], wanted: Sequence[str]) -> dict[int, float]:
    """How like the lines from each one on are: lines that are equal but for white space around them, then words."""
    where: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        where.setdefault(line.strip(), []).append(index)
    scores: dict[int, float] = {}
    for offset, line in enumerate(wanted):
        bare = line.strip()
        if not bare:
            continue
        weight = 1 + min(len(bare), 40) / 40  # a brace says little
        places = where.get(bare, ())
        for index in places if len(places) <= 200 else ():
            at = max(0, index - offset)
            scores[at] = scores.get(at, 0) + weight
    if len(scores) < _WINDOWS:
        _add_likely(scores, lines, wanted)
    return scores


def _add_likely(scores: dict[int, float], lines: Sequence[str], wanted: Sequence[str]) -> None:
    """Places where a line shares words with one of the longest lines that are searched for."""
    longest = heapq.nlargest(3, enumerate(wanted), key=lambda item: len(item[1].strip()))
    for offset, line in longest:
        words = Counter(_WORD.findall(line[:_COMPARED].lower()))
        if not words:
            continue
        for index, other in enumerate(lines):
            if not other.strip():
                continue
            own = Counter(_WORD.findall(other[:_COMPARED].lower()))
            shared = sum((words & own).values())
            share = 2 * shared / (sum(words.values()) + sum(own.values()) or 1)
            if share >= 0.3:
                at = max(0, index - offset)
                scores[at] = max(scores.get(at, 0), share)


def _window(lines: Sequence[str], wanted: Sequence[str], at: int) -> Window:
    own = tuple(lines[at : at + len(wanted)])
    for index, line in enumerate(wanted):
        if index >= len(own):
            return Window(first=at + 1, lines=own, difference=f"The file ends here; searched for: {visible(line)}")
        if own[index] != line:
            return Window(first=at + 1, lines=own, difference=_difference(at + 1 + index, own[index], line))
    return Window(first=at + 1, lines=own, difference="These lines are equal; what is around them differs.")


def _difference(number: int, own: str, wanted: str) -> str:
    """In what a line of the file differs from the one that was searched for."""
    if own.split() == wanted.split():
        if own.rstrip() == wanted.rstrip():
            ends = own[len(own.rstrip()) :], wanted[len(wanted.rstrip()) :]
            return (
                f"Line {number} differs in white space at its end: the file has {_blanks(ends[0])},"
                f" searched for was {_blanks(ends[1])}."
            )
        indents = own[: len(own) - len(own.lstrip())], wanted[: len(wanted) - len(wanted.lstrip())]
        if indents[0] != indents[1]:
            return (
                f"Line {number} differs in its indentation: the file has {_blanks(indents[0])},"
                f" searched for was {_blanks(indents[1])}."
            )
        return f"Line {number} differs in white space alone; searched for was: {visible(wanted)}"
    pieces = SequenceMatcher(None, own[:_COMPARED], wanted[:_COMPARED], autojunk=False).get_opcodes()
    first = next((piece for piece in pieces if piece[0] != "equal"), None)
    if first is None:
        return f"Line {number} differs at its end; searched for was: {visible(wanted)}"
    _, start, end, other_start, other_end = first
    return (
        f"Line {number} differs first in column {start + 1}: the file has {visible(own[start:end])!r},"
        f" searched for was {visible(wanted[other_start:other_end])!r}."
    )


def _blanks(blanks: str) -> str:
    """White space in words: `2 tabs`, `8 spaces`."""
    if not blanks:
        return "none"
    names = {" ": "space", "\t": "tab"}
    kinds = [(names.get(sign, repr(sign)), blanks.count(sign)) for sign in dict.fromkeys(blanks)]
    return " and ".join(f"{count} {name}{'s' if count != 1 else ''}" for name, count in kinds)
