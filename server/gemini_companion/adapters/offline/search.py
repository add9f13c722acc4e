"""Finding the passages that speak of what is asked: a full-text index in memory, identifiers taken apart.

A passage of a file is a definition where it can be, and its name and what it says of itself count most.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, pairwise
from typing import Final

import msgspec

from gemini_companion.adapters.offline.conversation import Turn
from gemini_companion.adapters.offline.question import states
from gemini_companion.adapters.offline.symbols import MINOR, definitions_in, documentation_of
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import is_question
from gemini_companion.engine.facts.sentences import pieces, sentences
from gemini_companion.engine.recall.words import spaced
from gemini_companion.sessions.models.port import OpenDocument

_HINT: Final = 0.25
"""What a hint counts beside a term of the question."""
_MOST_TERMS: Final = 32
"""Of a question, and of the hints."""
_FEWEST_LINES, _MOST_LINES, _LONGEST_DEFINITION = 3, 14, 40
"""Of a passage of a file."""
_NAME_WEIGHT: Final = 2.5
"""What a term counts in the name of a passage, and in what that says of itself, beside one in its body."""
_FEWEST_WORDS: Final = 40
"""A shorter passage is taken to be that long: few words around a term are no merit."""
_FILLER: Final = "a"
"""A word that no question searches for."""
_ABOUT_RULES, _QUESTION = 1.6, 0.3
"""What a rule or decision is worth where those are asked for, and what a question, or a finished task, is as an
answer.
"""
_SECTIONS: Final = {"overall_goal": 0.7, "recent_actions": 0.6, "task_state": 0.6}
"""What is worth less in a snapshot than what is known and what binds."""
_LONGEST_TURN: Final = 320
"""Characters up to which a message is one passage."""
_MOST_TURNS: Final = 4_000
"""Messages that are searched, newest first."""

_ABOVE: Final = ("#", "@", "//", "/*", "*", "--", ";")
"""How a line over a definition begins that belongs to it: a comment, a decorator."""
_INNER_CAPITAL: Final = lazy(r"([a-z0-9])([A-Z])")
_WORD: Final = lazy(r"[^\W_]+")
_GRAMMAR: Final = lazy(r"[ぁ-ん]{1,2}")
"""Pairs of Japanese characters that hold a sentence together."""
_UNSPECIFIC: Final = frozenset(
    "a about all am an and any are as at be been but by can could did do does doing don t explain file for from "  # noqa: SIM905
    "function get give had has have how i if in into is it its line lines make may me method mine my of on or our "
    "please s say should show so tell than that the their them then there these they this those to us use was we were "
    "what when where which who why will with would you your です ます "
    "した ない こと どこ 何を なに ので から れる して いる ある くだ ださ 下さ さい てく だ".split()
)


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a file, by lines from 1, or something said."""

    text: str
    name: str = ""
    """What it defines, and what it says of itself."""
    path: str = ""
    first: int = 0
    last: int = 0
    turn: Turn | None = None
    weight: float = 1.0
    """What its place makes it worth."""


def terms_of(text: str) -> list[str]:
    """Search terms: words in small letters, identifiers in parts; a word that says nothing is left out."""
    words = [word for word in _WORD().findall(_indexed(text).lower()) if word not in _UNSPECIFIC]
    telling = [word for word in words if not _GRAMMAR().fullmatch(word)]
    return list(dict.fromkeys(telling or words))


def rank(
    question: Sequence[str],
    passages: Sequence[Passage],
    hints: Sequence[str] = (),
    *,
    poll: Callable[[], None] = lambda: None,
) -> list[tuple[float, Passage]]:
    """The passages that hold a term of the question, best first, with their scores. Ties keep their order.

    Args:
        question: Search terms, as `terms_of` makes them.
        passages: What is searched.
        hints: Terms that count a little, and only in passages that hold one of the question's.
        poll: Called for each passage; what it raises ends the work.
    """
    if not question or not passages:
        return []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE passages USING fts5 (name, body, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        for number, passage in enumerate(passages):
            poll()
            body = _indexed(passage.text)
            floor = f" {_FILLER}" * (_FEWEST_WORDS - len(body.split()))
            name = _indexed(f"{passage.name} {passage.path.rpartition('/')[2]}")
            connection.execute(
                "INSERT INTO passages (rowid, name, body) VALUES (?, ?, ?)", (number, name, f"{body}{floor}")
            )
        # With few passages a term that stands in most of them would count nothing.
        blank = (f"{_FILLER} " * _FEWEST_WORDS,)
        connection.executemany("INSERT INTO passages (body) VALUES (?)", [blank] * (8 + min(len(passages), 32)))
        scores = _scores(connection, question)
        for number, score in _scores(connection, hints).items() if hints and scores else ():
            if number in scores:
                scores[number] += _HINT * score
    found = [
        (score * passages[number].weight, passages[number])
        for number, score in sorted(scores.items())
        if number < len(passages)
    ]
    return sorted(found, key=lambda pair: -pair[0])


def file_passages(document: OpenDocument) -> Iterator[Passage]:
    """A file in definitions, each with the comment over it, and what lies between; a long one ends at blank lines."""
    lines = document.text.split("\n")
    names: dict[int, str] = {}
    edges = {0, len(lines)}
    for definition in definitions_in(document):
        if definition.kind not in MINOR:
            start = definition.first - 1
            while start - 1 not in edges and start > 0 and lines[start - 1].lstrip().startswith(_ABOVE):
                start -= 1
            edges.update((start, definition.last))
            names[start] = f"{definition.name} {documentation_of(definition, document)}"
    weight = 1.15 if document.is_active else 1.0
    for start, end in pairwise(sorted(edges)):
        most = _LONGEST_DEFINITION if start in names else _MOST_LINES
        begin = start
        for number in range(start, end):
            length = number - begin + 1
            blank = not lines[number].strip() and length > _FEWEST_LINES and start not in names
            if blank or length >= most or number == end - 1:
                yield from _file_passage(document.path, lines, begin, number, weight, names.get(start, ""))
                begin = number + 1


def turn_passages(turns: Sequence[Turn], weights: Mapping[str, float], *, rules: bool = False) -> Iterator[Passage]:
    """What was said, long messages by sentences; speakers without a weight are left out.

    With `rules`, rules and decisions are worth more.
    """
    for turn in turns[-_MOST_TURNS:]:
        if (weight := weights.get(turn.speaker, 0.0)) <= 0:
            continue
        text = turn.text.strip()
        for said in (
            [text] if len(text) <= _LONGEST_TURN else map(str, chain.from_iterable(map(sentences, pieces(text))))
        ):
            yield Passage(text=said, turn=turn, weight=weight * _answers(turn, said, rules=rules))


def _answers(turn: Turn, said: str, *, rules: bool) -> float:
    """How good an answer something said can be."""
    if turn.speaker in ("user", "snapshot"):
        own = sentences(said.removeprefix("- "))
        binds = turn.section in ("active_constraints", "pins")
        if rules and (binds or (turn.section in ("", "key_knowledge") and any(map(states, own)))):
            return _ABOUT_RULES
        if "[DONE]" in said[:16] or all(map(is_question, own)):
            return _QUESTION
    return _SECTIONS.get(turn.section, 1.0)


def line_passages(text: str, question: str) -> Iterator[Passage]:
    """The lines of a text that a prompt brings along, but for the question."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and question not in line:
            yield Passage(text=line, first=number, last=number, weight=1.2)


def _scores(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[int, float]:
    """How well each passage with one of the terms fits.

    Terms hold letters and digits alone: nothing in them is an operator.
    """
    query = " OR ".join(f'"{term}"' for term in terms[:_MOST_TERMS])
    rows = connection.execute(
        f"SELECT rowid, -bm25(passages, {_NAME_WEIGHT}, 1.0) FROM passages WHERE passages MATCH ?", (query,)
    )
    return {int(number): float(score) for number, score in rows}


def _indexed(text: str) -> str:
    """A text as it is indexed: `openSocket` also as its parts, scripts without spaces as pairs of characters."""
    return spaced(well_formed(_INNER_CAPITAL().sub(r"\1 \2", text)).replace("\0", " "))


def _file_passage(path: str, lines: Sequence[str], start: int, end: int, weight: float, name: str) -> Iterator[Passage]:
    while start <= end and not lines[start].strip():
        start += 1
    while end >= start and not lines[end].strip():
        end -= 1
    if start <= end:
        text = "\n".join(lines[start : end + 1])
        yield Passage(text=text, name=name, path=path, first=start + 1, last=end + 1, weight=weight)
