"""Chanting: a model that says the same few words again and again."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple
from zlib import crc32

from gemini_companion.engine.loops.symbols import Symbols, symbol

CHUNK: Final = 50
"""Characters of which a repeat has at least so many, as Gemini CLI has it."""

REPEATS: Final = 10
"""Times that a chunk is said before it is a loop."""

MOST_APART: Final = 250
"""Symbols from one repeat to the next, on average."""

MOST_BETWEEN: Final = 5
"""Different texts between the repeats: with more of them it is a pattern that is filled in, such as a row of cases."""

_SPAN: Final = MOST_APART * (REPEATS - 1)
_KEPT: Final = _SPAN + 2 * CHUNK
_OTHER_LINES: Final = re.compile("[\U000f0000-\U000fffff]+")


class Chant(NamedTuple):
    """What is said again and again."""

    chunk: str
    """The chunk, in the symbols that it was found by."""

    @property
    def excerpt(self) -> str:
        """The chunk for people, in one line."""
        return " ".join(_OTHER_LINES.sub(" … ", self.chunk).split())

    def kept_of(self, text: str) -> str:
        """The text up to where it begins to repeat itself; all of it where that cannot be told."""
        first = text.find(self.chunk)
        second = text.find(self.chunk, first + CHUNK) if first >= 0 else -1
        return text if second < 0 else text[:second]


class Chanting:
    """Listens to a model's text. O(1) for each character; what it keeps does not grow.

    Where each chunk ended is kept by its hash, in two tables that take turns. Repeats that overlap count once: a row of
    dots, a laugh or a cry is no loop before it is 500 characters long.
    """

    __slots__ = ("_at", "_kept", "_kept_length", "_new", "_old", "_symbols", "_tail")

    def __init__(self) -> None:
        self._symbols = Symbols()
        self._at = 0
        """Symbols so far."""
        self._tail = ""
        """The last ones, one less than a chunk."""
        self._new: dict[int, int | tuple[int, ...]] = {}
        self._old: dict[int, int | tuple[int, ...]] = {}
        self._kept: list[str] = []
        """The newest symbols, in pieces."""
        self._kept_length = 0

    def copy(self) -> Chanting:
        """The same state, apart from this one: to go back to where an attempt is void."""
        other = Chanting()
        other._symbols = self._symbols.copy()
        other._at, other._tail, other._kept_length = self._at, self._tail, self._kept_length
        other._new, other._old, other._kept = self._new.copy(), self._old.copy(), self._kept.copy()
        return other

    def feed(self, text: str) -> Chant | None:
        """Listen to the next piece. A chant is told where it is noticed; what the piece has behind that is not read."""
        symbols = self._symbols.feed(text)
        return self._listen(symbols) if symbols else None

    def end_answer(self) -> Chant | None:
        """The answer is over; what comes next is another one."""
        symbols = self._symbols.end()
        return self._listen(symbols) if symbols else None

    def mark(self, key: str) -> Chant | None:
        """Something that is no text came between, such as a call: a symbol, the same for equal keys."""
        return self._listen(symbol(crc32(key.encode("utf-8", "surrogatepass"))))

    def _listen(self, symbols: str) -> Chant | None:
        self._keep(symbols)
        text = self._tail + symbols
        self._tail = text[1 - CHUNK :]
        first = self._at - len(text) + len(symbols) + CHUNK  # where the first whole chunk ends
        self._at += len(symbols)
        new, old = self._new, self._old
        for at in range(first, self._at + 1):
            key = hash(text[at - first : at - first + CHUNK])
            seen = new.get(key) or old.get(key)
            if seen is None:
                new[key] = at
                if len(new) > _KEPT:
                    self._old, self._new = old, new = new, {}
                continue
            places = new[key] = self._with(seen, at)
            if isinstance(places, tuple) and len(places) == REPEATS and places[-1] == at and self._is_chant(places):
                return Chant(text[at - first : at - first + CHUNK])
        return None

    @staticmethod
    def _with(seen: int | tuple[int, ...], at: int) -> int | tuple[int, ...]:
        """The places of a chunk, the newest ones that may count together."""
        places = (seen,) if isinstance(seen, int) else seen
        since = at - places[-1]
        if since < CHUNK:
            return seen
        if since > _SPAN:
            return at
        return (*places, at)[-REPEATS:]

    def _is_chant(self, places: tuple[int, ...]) -> bool:
        """Close enough together, with few different texts between."""
        if places[-1] - places[0] > _SPAN:
            return False
        if len(self._kept) > 1:
            self._kept = ["".join(self._kept)]
        kept, first = self._kept[0], self._at - self._kept_length
        between = {kept[a - first : b - CHUNK - first] for a, b in pairwise(places)}
        return len(between) <= MOST_BETWEEN

    def _keep(self, symbols: str) -> None:
        self._kept.append(symbols)
        self._kept_length += len(symbols)
        if self._kept_length > 2 * _KEPT + len(symbols):
            joined = "".join(self._kept)[-_KEPT - len(symbols) :]
            self._kept, self._kept_length = [joined], len(joined)
