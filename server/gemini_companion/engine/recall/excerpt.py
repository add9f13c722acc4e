"""The part of a passage that shows why it was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

EXCERPT: Final = 600
BESIDE: Final = 200
_STEM: Final = (4, 40)
"""Characters of a word that must agree at least, for a stemmer to take two for one, and at most."""


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
