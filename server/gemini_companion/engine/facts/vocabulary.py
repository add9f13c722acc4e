"""The words of contents, read once: what a snapshot says that nobody said is not there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.word_sets import words_of_texts
from gemini_companion.engine.history.content import Content

T = TypeVar("T")

MOST_WORDS: Final = 1_000_000
"""Different words that are held."""
_TOGETHER: Final = 64
"""Contents whose words are looked for together."""


class _Words:
    """Words, and whose they are. What has them is put in behind them, so that another thread may ask at any time."""

    __slots__ = ("all", "number", "put_away", "read")

    def __init__(self, number: int) -> None:
        self.number = number
        """How often they began anew before."""
        self.all: set[str] = set()
        self.read: dict[int, Content] = {}
        self.put_away: set[tuple[int, int]] = set()
        """Of contents that were put away before: by entry, and which of its contents it is."""


class Vocabulary:
    """Grows; of more than a million words it begins anew, with the next who asks. Several threads may ask at once."""

    def __init__(self, most: int) -> None:
        """`most`: contents of which it is known that their words are there."""
        self._most = most
        self._words = _Words(0)

    def of(self, sources: Sequence[FactSource], beside: Iterable[Content], poll: Callable[[], None]) -> set[str]:
        """Every word of sources, also of those that are put away, of contents beside them, and of whatever was asked
        about before. Must not be changed.
        """
        words = self._with([*(one.content for one in sources if one.known is None), *beside], poll)
        fresh = (one for one in sources if one.known is not None and one.known.read != words.number)
        new = iter([one for one in fresh if (one.seq, one.number) not in words.put_away])
        for some, texts in _some(new, lambda one: text_of_content(one.content)):
            words.all.update(words_of_texts(texts, poll))
            words.put_away.update((one.seq, one.number) for one in some)
        return words.all

    def _with(self, contents: Sequence[Content], poll: Callable[[], None]) -> _Words:
        words = self._words
        if len(words.read) >= self._most or len(words.all) >= MOST_WORDS:
            self._words = words = _Words(words.number + 1)
        known = map(words.read.get, map(id, contents))
        fresh = iter([content for content, read in zip(contents, known, strict=True) if read is not content])
        for some, texts in _some(fresh, text_of_content):
            words.all.update(words_of_texts(texts, poll))  # may end here: they count as read with their words
            words.read.update((id(content), content) for content in some)
        return words

    def read(self) -> tuple[Content, ...]:
        """The contents whose words it has."""
        return tuple(self._words.read.values())

    def put_away(self, content: Content) -> int:
        """A content goes. The number of the words that has its own, -1 if none has."""
        words = self._words
        return words.number if words.read.pop(id(content), None) is content else -1

    def keep_only(self, ids: Collection[int]) -> None:
        """Hold no content but those with these identities; words stay."""
        read = self._words.read
        for gone in read.keys() - ids:
            del read[gone]


def _some(fresh: Iterator[T], text_of: Callable[[T], str]) -> Iterator[tuple[list[T], Iterator[str]]]:
    while some := list(islice(fresh, _TOGETHER)):
        yield some, map(text_of, some)
