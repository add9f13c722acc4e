"""Finding the passages that speak of what is asked: BM25 over terms, identifiers taken apart, Japanese in pairs of characters."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import msgspec

from gemini_companion.adapters.offline.conversation import Turn
from gemini_companion.engine.facts.key_sentences import words_of
from gemini_companion.engine.facts.sentences import pieces, prose_lines, sentence_spans
from gemini_companion.sessions.ports import OpenDocument

_SATURATION, _LENGTH_SHARE = 1.4, 0.6
"""BM25's k1 and b."""
_HINT: Final = 0.25
"""What a hint counts beside a term of the question."""
_FEWEST_LINES, _MOST_LINES = 3, 14
"""Of a passage of a file."""
_LONGEST_TURN: Final = 320
"""Characters up to which a message is one passage."""
_MOST_TURNS: Final = 4_000
"""Messages that are searched, newest first."""


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a file, by lines from 1, or something said."""

    text: str
    path: str = ""
    first: int = 0
    last: int = 0
    turn: Turn | None = None
    weight: float = 1.0
    """What its place makes it worth."""


def terms_of(text: str) -> list[str]:
    """Search terms: words in small letters without their ending, and the parts of identifiers."""
    terms: list[str] = []
    for word in words_of(_inner_capital().sub(r"\1 \2", text)):
        parts = word.split("_")
        terms.extend(_stem(part) for part in parts if part and part not in _UNSPECIFIC)
        if len(parts) > 1:
            terms.append(word)
    return terms


def rank(question: Sequence[str], passages: Sequence[Passage], hints: Sequence[str] = ()) -> list[tuple[float, Passage]]:
    """The passages that hold a term of the question, best first, with their scores. Ties keep their order.

    `hints` are terms that count a little, and only in passages that hold one of the question's.
    """
    wanted = set(question)
    if not wanted or not passages:
        return []
    counted = [Counter(terms_of(passage.text + " " + passage.path.rpartition("/")[2])) for passage in passages]
    lengths = [sum(counts.values()) or 1 for counts in counted]
    average = sum(lengths) / len(lengths)
    holding = {term: sum(term in counts for counts in counted) for term in wanted.union(hints)}
    rarity = {term: math.log(1 + (len(passages) - held + 0.5) / (held + 0.5)) for term, held in holding.items() if held}
    rarity = {term: worth if term in wanted else _HINT * worth for term, worth in rarity.items()}
    scored: list[tuple[float, Passage]] = []
    for passage, counts, length in zip(passages, counted, lengths, strict=True):
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / average)
        score = sum(worth * counts[term] * (_SATURATION + 1) / (counts[term] + norm) for term, worth in rarity.items() if counts[term])
        if score > 0 and not wanted.isdisjoint(counts):
            scored.append((score * passage.weight, passage))
    scored.sort(key=lambda pair: -pair[0])
    return scored


def file_passages(document: OpenDocument) -> Iterator[Passage]:
    """A file in stretches that end at blank lines where they can, and before the headings of a Markdown file."""
    lines = document.text.split("\n")
    headed = document.path.endswith((".md", ".markdown"))
    start = 0
    weight = 1.15 if document.is_active else 1.0
    for number, line in enumerate(lines):
        if headed and line.startswith("#") and number > start:
            yield from _file_passage(document.path, lines, start, number - 1, weight)
            start = number
        length = number - start + 1
        if (not line.strip() and length > _FEWEST_LINES) or length >= _MOST_LINES:
            yield from _file_passage(document.path, lines, start, number, weight)
            start = number + 1
    yield from _file_passage(document.path, lines, start, len(lines) - 1, weight)


def turn_passages(turns: Sequence[Turn], weights: dict[str, float]) -> Iterator[Passage]:
    """What was said, long messages by sentences; speakers without a weight are left out."""
    for turn in turns[-_MOST_TURNS:]:
        weight = weights.get(turn.speaker, 0.0)
        if weight <= 0:
            continue
        if len(turn.text) <= _LONGEST_TURN:
            yield Passage(text=turn.text.strip(), turn=turn, weight=weight)
            continue
        for piece in pieces(turn.text):
            for low, high in prose_lines(piece):
                for start, end in sentence_spans(piece, low, high):
                    yield Passage(text=piece[start:end], turn=turn, weight=weight)


def line_passages(text: str, question: str) -> Iterator[Passage]:
    """The lines of a text that a prompt brings along, but for the question."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and question not in line:
            yield Passage(text=line, first=number, last=number, weight=1.2)


def _file_passage(path: str, lines: Sequence[str], start: int, end: int, weight: float) -> Iterator[Passage]:
    while start <= end and not lines[start].strip():
        start += 1
    while end >= start and not lines[end].strip():
        end -= 1
    if start <= end:
        yield Passage(text="\n".join(lines[start : end + 1]), path=path, first=start + 1, last=end + 1, weight=weight)


def _stem(word: str) -> str:
    if not word.isascii():
        return word
    for endings in (("ing", "ied", "ies", "ed", "es", "s"), ("y", "e")):
        ending = next((ending for ending in endings if word.endswith(ending) and len(word) - len(ending) >= 3), "")
        word = word.removesuffix(ending)
    return word


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNSPECIFIC: Final = _words(
    "a about all am an and any are as at be been but by can could did do does doing don't explain file for from function get give had has "
    "have how i if in into is it its line lines make may me method mine my of on or our please say should show so tell than that the their "
    "them then there these they this those to us use was we were what when where which who why will with would you your です ます した "
    "ない こと どこ 何を なに ので から れる して いる ある ください 下さ さい てく だ"
)


@cache
def _inner_capital() -> re.Pattern[str]:
    return re.compile(r"([a-z0-9])([A-Z])")
