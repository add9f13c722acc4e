"""Finding out where the lines of a snapshot come from, if nobody says so: by what a line names, and by rare words.

A line is given no source rather than a wrong one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.neutralise import SECTIONS, SNAPSHOT_TAG
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.sentences import pieces

LEAST_SHARE: Final = 0.6
"""Of the weight of a line's words, what a content must hold to be its source."""
LEAST_WEIGHT: Final = 4.0
"""Weight of the words that it must share: a rare name, or a few words that not every content has."""
MOST_SOURCES: Final = 3
"""Contents that a line is attributed to; more only repeat it."""

_NEAR: Final = 0.9
"""A second content counts from this share of what the best one holds."""
_MOST_CONTENTS: Final = 20_000
"""Contents that are looked at, the newest."""
_LOOKED_AT: Final = 65_536
"""Characters of one content that are looked at: its head and its tail."""
_FEWEST: Final = 2
"""Words that a line must have."""
_COMMON: Final = 0.5
"""Share of the contents from which on a word says nothing."""

_WORD: Final = lazy(r"[a-z0-9][a-z0-9_]{2,}|[⺀-鿿ｦ-ﾟ가-힣豈-﫿]{2}")
_TAG: Final = lazy(rf"(?i)</?(?:{SNAPSHOT_TAG}|{'|'.join(SECTIONS)})\s{{0,20}}>")
_OWN_WORDS: Final = frozenset(
    "the and for with that this from was were are has had have not none done todo progress next open found created "  # noqa: SIM905
    "changed deleted read cwd failed user model decided error met latest request last word first answered yet call "
    "more lines line characters named numbers addresses into but its all any can will".split()
)


def attribute(
    lines: Mapping[int, str], sources: Sequence[FactSource], *, poll: Callable[[], None] = lambda: None
) -> dict[int, tuple[int, ...]]:
    """For each line, by its number, the sequence numbers of the contents that it rests on, rising.

    Lines whose source cannot be told are left out. Linear in the text of the contents.
    """
    words = {number: frozenset(_words(line)) for number, line in lines.items()}
    words = {number: own for number, own in words.items() if len(own) >= _FEWEST}
    asked = frozenset(word for own in words.values() for word in own)
    if not asked:
        return {}
    holders: defaultdict[str, list[int]] = defaultdict(list)
    newest = sources[-_MOST_CONTENTS:]
    for place, source in enumerate(newest):
        poll()
        for word in asked.intersection(_words(text_of_content(source.content), poll)):
            holders[word].append(place)
    total = len(newest)
    weights = {word: math.log((1 + total) / len(holders[word])) if word in holders else 0.0 for word in asked}
    unknown = math.log(1.0 + total)
    found: dict[int, tuple[int, ...]] = {}
    for number, own in words.items():
        poll()
        scores: defaultdict[int, float] = defaultdict(float)
        for word in own:
            if len(holders.get(word, ())) <= max(2, total * _COMMON):
                for place in holders.get(word, ()):
                    scores[place] += weights[word]
        if not scores:
            continue
        whole = sum(weights[word] if word in holders else unknown for word in own)
        best = max(scores.values())
        if best < LEAST_WEIGHT or best < LEAST_SHARE * whole:
            continue
        likely = [place for place, score in scores.items() if score >= _NEAR * best]
        likely.sort(key=lambda place: (-scores[place], place))
        found[number] = tuple(sorted({newest[place].seq for place in likely[:MOST_SOURCES]}))
    return found


def lines_to_attribute(snapshot: str) -> dict[int, str]:
    """The lines of a snapshot that say something, by number from 0, without its tags."""
    bare = ((number, _TAG().sub(" ", line).strip()) for number, line in enumerate(snapshot.split("\n")))
    return {number: line for number, line in bare if line.strip("-*• ").lower() not in ("", "none", "(none)")}


def _words(text: str, poll: Callable[[], None] = lambda: None) -> set[str]:
    if len(text) > _LOOKED_AT:
        text = f"{text[: _LOOKED_AT // 2]} {text[-_LOOKED_AT // 2 :]}"
    found: set[str] = set()
    for piece in pieces(text):
        poll()
        found.update(_WORD().findall(piece.casefold()))
    return found - _OWN_WORDS
