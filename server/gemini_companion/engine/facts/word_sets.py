"""Every word that texts have, told quickly: whether one occurs at all is asked of a whole conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.sentences import pieces

AT_ONCE: Final = 32_768
"""Characters that are normalised in one go: nothing else runs meanwhile."""
_MOST_DOTS: Final = 6
"""Parts of a version that its beginnings are remembered for."""
_LETTERS: Final = lazy(r"[a-z]+|[0-9]+(?:[.,][0-9]+)*+")


def words_of_texts(texts: Iterable[str], poll: Callable[[], None]) -> set[str]:
    """The words of texts in small letters: runs of letters, and numbers, also as the beginning of a longer one."""
    words: set[str] = set()
    for piece in _together(texts):
        poll()
        # No word has a blank in it, and most stand in a text many times: to split it is quicker than to search it.
        words.update(_LETTERS().findall(" ".join(set(piece.split())).casefold()))
    for number in [word for word in words if "." in word or "," in word]:
        for run in number.split(","):
            names = run.split(".")
            words.update(names)
            words.update(".".join(names[:count]) for count in range(2, min(len(names), _MOST_DOTS) + 1))
    return words


def _together(texts: Iterable[str]) -> Iterator[str]:
    """The same text in pieces that are normalised in one go: short ones together, long ones cut."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if size + len(text) > AT_ONCE:
            yield "\n".join(batch)
            batch, size = [], 0
        if len(text) > AT_ONCE:
            yield from pieces(text, AT_ONCE)
        else:
            batch.append(text)
            size += len(text)
    yield "\n".join(batch)
