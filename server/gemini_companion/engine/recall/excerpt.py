"""The part of a passage that shows why it was found, and the lines of an output that have words in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

EXCERPT: Final = 600
BESIDE: Final = 200
_STEM: Final = (4, 40)
"""Characters of a word that must agree at least, for a stemmer to take two for one, and at most."""


_AROUND: Final = 2
"""Lines beside each one that matches."""
_LONGEST_LINE: Final = 1_000


class Lines(NamedTuple):
    """The lines of a text that match, with those beside them, each after its number."""

    text: str
    shown: int
    found: int
    """How many match in all."""
    of: int
    """Lines of the text."""


def matching_lines(text: str, query: str, most: int) -> Lines:
    """The lines with all words of a query, or else with any, in about `most` characters."""
    lines = text.split("\n")
    words = query.lower().split()
    lowered = [line.lower() for line in lines]
    matches = [number for number, line in enumerate(lowered) if all(word in line for word in words)]
    matches = matches or [number for number, line in enumerate(lowered) if any(word in line for word in words)]
    pieces: list[str] = []
    room, shown, last = most, 0, -1
    for number in matches:
        first = max(last + 1, number - _AROUND)
        block = [f"{at + 1}: {lines[at][:_LONGEST_LINE]}" for at in range(first, min(len(lines), number + _AROUND + 1))]
        room -= sum(map(len, block)) + len(block) + 4
        if room < 0 and pieces:
            break
        pieces.extend(["…", *block] if first > last + 1 else block)
        shown, last = shown + 1, max(last, number + _AROUND)
    return Lines("\n".join(pieces), shown, len(matches), len(lines))


def excerpt(text: str, words: Iterable[str], limit: int = EXCERPT) -> str:
    """At most `limit` characters of `text` around the most of the words, word for word, with `…` where it is cut."""
    if len(text.strip()) <= limit:
        return text.strip()
    stems = {word[: min(max(_STEM[0], len(word) - 3), _STEM[1])] for word in words if word}
    start = _best_start(text, stems, limit - 2) if stems else 0
    return _cut(text, start, limit)


def beginning(text: str, limit: int = BESIDE) -> str:
    """The first `limit` characters of a text on one line, with `…` if there are more."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit and len(text) <= limit * 4 else f"{line[: limit - 1].rstrip()}…"


def _best_start(text: str, stems: set[str], width: int) -> int:
    """Where the window of `width` characters begins that holds the most different stems."""
    lowered = text.lower()
    lowered = lowered if len(lowered) == len(text) else text
    found = sorted((position, stem) for stem in stems for position in _positions(lowered, stem))
    inside: dict[str, int] = {}
    best, best_start, first = 0, 0, 0
    for last, (position, stem) in enumerate(found):
        inside[stem] = inside.get(stem, 0) + 1
        while position - found[first][0] > width - len(stem):
            gone = found[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        if len(inside) > best:
            best = len(inside)
            middle = (found[first][0] + found[last][0] + len(stem)) // 2
            best_start = max(0, middle - width // 2)
    return best_start


def _positions(text: str, stem: str) -> Iterator[int]:
    position = text.find(stem)
    while position >= 0:
        yield position
        position = text.find(stem, position + len(stem))


def _cut(text: str, start: int, limit: int) -> str:
    start = max(0, min(start, len(text) - limit + 1))
    if start:
        blank = text.find(" ", start, start + 40)
        start = blank + 1 if blank >= 0 else start
    end = start + limit - 2
    if end < len(text):
        blank = max(text.rfind(" ", end - 40, end), text.rfind("\n", end - 40, end))
        end = blank if blank > start else end
    shown = text[start:end].strip()
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"
