"""Whether facts stand in texts, but for capitals, blanks, emphasis and escaped tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from gemini_companion.engine.facts.fact import Fact
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.sentences import pieces
from gemini_companion.engine.facts.word_sets import AT_ONCE

LOOKED_THROUGH: Final = 1_000_000
"""Characters of what takes their place that are looked through at most."""

_LONGEST_LINE: Final = 160
"""Characters of a command or of an error that are looked for: its first line that far."""
_LONGEST_TEXT: Final = 400
"""Characters of any other fact."""
_SEARCHED: Final = 8
"""Facts that are searched for before the words of what is looked through are told apart."""
_MOST_PLACES: Final = 100
"""Places where a fact of several words is tried."""
INVISIBLE: Final[dict[int, None]] = dict.fromkeys(
    code
    for first, last in ((0, 8), (14, 27), (0x7F, 0x84), (0x86, 0x9F), (0x202A, 0x202E), (0x2060, 0x206F))
    for code in range(first, last + 1)
)
"""Control characters and marks that nobody sees, for `str.translate`: terminal codes, directions of writing."""
_SIGNS: Final = INVISIBLE | str.maketrans({"‹": "<", "’": "'", "`": None, "*": None, "“": '"', "”": '"'})
_SIGN: Final = lazy(f"[{re.escape(''.join(map(chr, _SIGNS)))}]")
_WORDS: Final = lazy(r"[a-z0-9_]+")

# The same for the bytes of UTF-8, which are gone through several times as fast as text that is not ASCII.
_ASCII: Final = bytes(range(128))
_SMALL: Final = bytes(32 if 28 <= code < 32 else code for code in range(256)).lower()
"""Capitals in small letters, and the blanks that bytes do not take for blanks as spaces."""
_DROPPED: Final = bytes(code for code, sign in _SIGNS.items() if sign is None and code < 128)
_WORDS_ALONE: Final = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789_" else 32 for code in range(256))
"""Blanks for all that stands in no word."""
_MOST_REPLACED: Final = 32
"""Different characters that are replaced one after the other; each goes through the whole text."""


class Needle(NamedTuple):
    """A fact as it is looked for."""

    plain: str
    """Without what makes no difference: capitals, blanks, emphasis, escaped tags."""
    words: tuple[str, ...]


class Haystack:
    """Texts in which facts are looked for, the first 1,000,000 characters of them."""

    def __init__(self, texts: Iterable[str], *, poll: Callable[[], None] = lambda: None) -> None:
        self._texts: Iterable[str] | None = texts
        """Until somebody asks: often nobody does."""
        self._poll = poll
        self._text = ""
        self._asked = 0

    @cached_property
    def _vocabulary(self) -> tuple[set[str], set[tuple[str, str]]]:
        """All words, and which follow each other."""
        # As `_WORDS` finds them: whatever else there is becomes a blank.
        blanked = self._text.encode("utf-8", "surrogatepass").translate(_WORDS_ALONE)
        words = blanked.decode("ascii").split()
        return set(words), set(pairwise(words))

    def _read(self) -> None:
        if self._texts is not None:
            self._text, self._texts = "\n".join(_plain_texts(self._texts, self._poll)), None

    def add(self, text: str) -> None:
        """Put a short text behind what is there."""
        self._read()
        plain = _plain(text)
        words = _WORDS().findall(plain)
        known, pairs = self._vocabulary
        known.update(words)
        pairs.update(pairwise(words))
        self._text = f"{self._text}\n{plain}"

    def has_most(self, needle: Needle, share: float) -> bool:
        """Whether so many of a fact's words stand there, wherever."""
        self._read()
        words = set(needle.words)
        return bool(words) and len(words & self._vocabulary[0]) >= share * len(words)

    def has(self, needle: Needle) -> bool:
        """Whether a fact stands there as whole words: `80` does not in `8080`.

        Most that are missing are told by a word that is, or by two that do not follow each other.
        """
        self._read()
        self._asked += 1
        if self._asked <= _SEARCHED and needle.plain not in self._text:
            return False  # where little is looked for, to search it takes less than to know all words
        words, pairs = self._vocabulary
        if not words.issuperset(needle.words) or not pairs.issuperset(pairwise(needle.words)):
            return False
        if not needle.plain:
            return True
        plain, haystack = needle.plain, self._text
        if needle.words == (plain,):
            return True
        start = haystack.find(plain)
        for _ in range(_MOST_PLACES):
            if start < 0:
                return False
            end = start + len(plain)
            if not (_joined(haystack[start - 1 : start], plain[0]) or _joined(plain[-1], haystack[end : end + 1])):
                return True
            start = haystack.find(plain, start + 1)
        return False


def shown(fact: Fact) -> str:
    """What of a fact is looked for, and named where it is missing: a command may be a whole file. Ends with a word."""
    text, limit = fact.text, _LONGEST_TEXT
    if fact.kind in ("command", "error"):
        text, limit = text.lstrip().partition("\n")[0], _LONGEST_LINE
    if len(text) <= limit:
        return text
    end = text.rfind(" ", 0, limit + 1)
    return text[: end if end > 0 else limit]


def _plain_texts(texts: Iterable[str], poll: Callable[[], None]) -> Iterator[str]:
    left = LOOKED_THROUGH
    for text in texts:
        poll()
        for piece in pieces(text[:left], AT_ONCE):
            yield _plain(piece)
        left -= len(text)
        if left <= 0:
            return


def needle_of(fact: Fact) -> Needle:
    """How a fact is looked for."""
    plain = _plain(shown(fact))
    plain = plain.strip(" .:;!。！：；-") or plain
    return Needle(plain, tuple(_WORDS().findall(plain)))


def _plain(text: str) -> str:
    if text.isascii():
        return " ".join(text.translate(_SIGNS).casefold().split())
    data = text.encode("utf-8", "surrogatepass")
    rest = data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if rest.casefold() != rest or _SIGN().search(rest) or rest.split() != [rest]:
        changed = {sign for sign in set(rest) if _plain_character(sign) != sign}
        if len(changed) > _MOST_REPLACED:
            return " ".join(text.translate(_SIGNS).casefold().split())
        for sign in changed:  # none becomes another one that would change
            text = text.replace(sign, _plain_character(sign))
        data = text.encode("utf-8", "surrogatepass")
    return b" ".join(data.translate(_SMALL, _DROPPED).split()).decode("utf-8", "surrogatepass")


def _plain_character(sign: str) -> str:
    return " " if sign.isspace() else sign.translate(_SIGNS).casefold()


def _joined(before: str, after: str) -> bool:
    """True if two neighbours are in the middle of one word."""
    return bool(before and after and before.isascii() and after.isascii() and before.isalnum() and after.isalnum())
