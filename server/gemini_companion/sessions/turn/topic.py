"""Whether a conversation has gone on to another topic than its title was made of: a cheap rule, no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

FEWEST_TURNS: Final = 5
"""Completed turns after the one that the title was made at, before another is thought of."""
RECENT_PROMPTS: Final = 4
"""Newest prompts, which show the topic now."""

_FEWEST_MARKS: Final = 8
"""Of what the newest prompts say: `go on` and `yes` show no topic."""
_SHARED: Final = 0.15
"""Share of it that was said before, below which the topic is another."""
_CHARACTERS: Final = 2_000
"""Of each prompt at most."""
_WORD: Final = re.compile(r"\w+")
_SHORTEST_WORD: Final = 4
_UNSPACED_FROM: Final = 0x0E00
"""Code point from which scripts are commonly written without spaces: Thai, Chinese, Japanese and so on."""


def has_moved(before: AbstractSet[str], since: Sequence[str]) -> bool:
    """True if the newest of the prompts `since` share hardly a word with `before`: the words of what was said until the
    title was given, and of the title.
    """
    recent = words_of(since[-RECENT_PROMPTS:])
    if len(recent) < _FEWEST_MARKS:
        return False
    return len(recent & before) < _SHARED * len(recent)


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of texts that show a topic; of a word in a script without spaces, its pairs of characters."""
    marks: set[str] = set()
    for text in texts:
        for word in _WORD.findall(text[:_CHARACTERS].casefold()):
            if ord(word[0]) >= _UNSPACED_FROM:
                marks.update(word[at : at + 2] for at in range(len(word) - 1))
            elif len(word) >= _SHORTEST_WORD:
                marks.add(word)
    return frozenset(marks)
