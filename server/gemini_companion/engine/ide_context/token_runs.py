"""Runs of the characters that tokens are made of: nearly all kinds of secrets stand within one, few texts have many.

They are found by two passes of C over the text, one byte a character, however many patterns are tried within them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import AnyStr, Final, NamedTuple, TypeAlias

from gemini_companion.engine.ide_context.secret_patterns import RUN_CHARACTERS, SHORTEST_RUN

Span: TypeAlias = tuple[int, int]

_IN, _OUT = b"x", b" "
_MASK: Final = bytes.maketrans(
    bytes(range(256)), bytes(_IN[0] if chr(n) in RUN_CHARACTERS else _OUT[0] for n in range(256))
)
_LONG: Final = re.compile(_IN * SHORTEST_RUN + _IN + b"*+")
"""Begins with letters alone, for which `re` has a search that is faster than one run after the other by `find`."""


class Sifted(NamedTuple):
    """A text, and what of it may be a token."""

    text: str
    plain: bytes
    """The text, one byte a character: `?` for each that is not ASCII."""
    runs: list[Span]
    """Start and end of the runs of `SHORTEST_RUN` characters or more, in order."""
    starts: list[int]
    """Where they start."""
    lines: list[int]
    """Where each stands in `in_runs`."""
    in_runs: bytes
    """What stands in them, one a line."""

    def place(self, in_runs: int) -> int:
        """Where in the text something stands that was found in `in_runs`."""
        number = bisect_right(self.lines, in_runs) - 1
        return self.starts[number] + in_runs - self.lines[number]


def sifted(text: str) -> Sifted:
    """Find the runs of a text. Linear in its length."""
    plain = text.encode("ascii", "replace")
    runs = [found.span() for found in _LONG.finditer(plain.translate(_MASK))]
    starts = [start for start, _ in runs]
    lines = [0, *accumulate(end - start + 1 for start, end in runs[:-1])] if runs else []
    return Sifted(text, plain, runs, starts, lines, b"\n".join([plain[start:end] for start, end in runs]))


def joined(spans: Iterable[Span]) -> list[Span]:
    """The same places, in order, and those that overlap as one."""
    apart: list[Span] = []
    for start, end in sorted(spans):
        if apart and start <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], end)
        else:
            apart.append((start, end))
    return apart


def places_of(text: AnyStr, word: AnyStr) -> Iterator[int]:
    """Wherever a word begins, without those that begin within another one of it."""
    found = text.find(word)
    while found >= 0:
        yield found
        found = text.find(word, found + len(word))
