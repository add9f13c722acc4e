"""The statements of a content, and what each is worth: a sentence of prose, or a line of what was pasted.

Worth goes by form alone, so that it holds in any language: length, identifiers, numbers, whether it asks, where it
stands. The numbers come from a fit on twelve labelled conversations in five languages; what else was tried (rare words,
centrality, later mentions, lists of words) added nothing.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gemini_companion.engine.facts.patterns import ERROR_HINTS, hinted, lazy
from gemini_companion.engine.facts.sentences import fenced_spans, is_code, pasted_spans, prose_lines, sentence_spans
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import has_call, is_thought, text_of

_QUOTED_NAME: Final = lazy(r"`[^`\n]{1,80}`")
_WORD: Final = lazy(r"[^\s`\"'“”„(),;:!?<>{}|\[\]=。、，；：！？「」（）]++")
_NAME: Final = lazy(
    r"[^\W\d_][\w-]*[._/\\][\w]|[a-z]+[A-Z]|[A-Z][a-z0-9]+[A-Z]|[A-Z][A-Z0-9_-]{2}|--?[a-z]|[~.]*/[\w.-]"
)
"""How a path, a symbol, an option or a code begins: no plain word does."""
_WIDE: Final = lazy("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f]++")
"""Chinese, Japanese, Korean."""
_NUMBER: Final = lazy(r"(?<![\w.])[-+]?\d")
_QUOTED_LINE: Final = lazy(r"^[ \t]{0,8}>[^\n]*", re.MULTILINE)
_ASKS: Final = ("?", "？", "؟")
_CALLS_OUT: Final = ("!", "！")
_LEADS_IN: Final = (":", "：")
_MARKS_BEHIND: Final = "\"'”’»」』)）*_ \t"
"""Closing quotes and emphasis behind a sentence's last sign."""
_ANYTHING: Final = lazy(r"[^\W_]")
_NOTHING: Final = -2.0
"""Worth of a line of signs alone: a rule, a closing brace."""
_PRINTED: Final = ("", "text", "txt", "plain", "plaintext", "console", "output", "log", "logs", "csv", "diff")
"""Languages of blocks in which a program's output may stand; the others have its source."""
_SOURCE: Final = (";", "{", "}", "(", "()", '")', "')", "`)", "))", "[", "],", "),", "},", "=", "=>", "->")
"""How lines of source code end where nothing names the language."""
_FILE: Final = lazy(r"[\w-]\.[a-z][a-z0-9]{1,4}\b(?![.(\w])")
"""A file's name: what the model says of one is often what it changed there."""
_ONE_TABLE: Final = 80.0
"""Tokens up to which what a program printed is as worthy as its best line: a part of a table says little."""
_BEGINNING: Final = 80
"""Characters of a word that tell whether it is a name."""
TRIFLE: Final = 7.5
"""Tokens below which a statement counts as said where it was said, whatever else is the same."""
_LONGEST_TEXT: Final = 400_000
"""Characters of one text that are read as statements; what is behind them is material."""

_USER_AT, _MODEL_AT, _STEEP = 3.0, 4.0, 1.5
"""Worth at which every other statement of the person, and of the model, carried what was labelled, and how fast that
changes with it: fitted so that the score is the share of labels that stands, whatever is left out.
"""


class Statement(NamedTuple):
    """A piece of a text, where it stands, and what it is worth."""

    part: int
    """Index of its part in the content."""
    start: int
    end: int
    tokens: float
    """Estimated, alike for all statements; only their proportion counts."""
    worth: float
    is_material: bool
    """It was pasted, fenced or quoted: nobody's own words."""
    same: int
    """Equal for texts that differ in capitals, blanks and the full stop alone."""


class Unwanted:
    """What the person said and does not want kept.

    The same words said earlier are not wanted either; said again later, they are meant anew. Of a trifle, such as a
    yes, only the one that was pointed at is not.
    """

    def __init__(self, said: Iterable[tuple[int, str]] = ()) -> None:
        """`said` has the sequence number of the entry that a statement stands in, and the statement."""
        self._at = {(seq, same_as(text)) for seq, text in said}
        self._last: dict[int, int] = {}
        for seq, same in self._at:
            self._last[same] = max(seq, self._last.get(same, 0))

    def __bool__(self) -> bool:
        return bool(self._at)

    def has(self, statement: Statement, seq: int) -> bool:
        """Whether a statement of the entry with this number is among it."""
        if statement.is_material:
            return False
        if statement.tokens < TRIFLE:
            return (seq, statement.same) in self._at
        return seq <= self._last.get(statement.same, 0)

    def says(self, line: str) -> bool:
        """Whether a line that was written earlier says it."""
        return same_as(line) in self._last


def likely(worth: float, *, by_user: bool) -> float:
    """How likely it is that a statement of this worth carries what matters."""
    return 1 / (1 + math.exp(_STEEP * ((_USER_AT if by_user else _MODEL_AT) - worth)))


def tokens_in(text: str) -> float:
    """Tokens of a text by its characters: four of ASCII make one, one of Chinese or Japanese does nearly."""
    if text.isascii():
        return len(text) / 4
    ascii_ = len(text.encode("ascii", "ignore"))
    wide = sum(map(len, _WIDE().findall(text)))
    return ascii_ / 4 + wide * 0.9 + (len(text) - ascii_ - wide) / 2.5


def statements_of(content: Content) -> tuple[Statement, ...]:
    """The statements of all that is said in a content, in order; none of thoughts, calls and results. Linear."""
    found: list[Statement] = []
    by_user, calls = content.role == "user", has_call(content)
    for number, part in enumerate(content.parts):
        text = text_of(part)
        if text and not is_thought(part) and not text.isspace():
            found += _of_text(text, number, by_user=by_user, before_call=calls)
    return tuple(found)


def _of_text(text: str, part: int, *, by_user: bool, before_call: bool) -> Iterator[Statement]:
    prose, material = _spans(text)
    names = _names(text)
    numbers = [match.start() for match in _NUMBER().finditer(text, 0, _LONGEST_TEXT)]
    last = len(prose) - 1
    made: list[Statement] = []
    for place, (start, end) in enumerate(prose):
        said = text[start:end]
        tokens = tokens_in(said)
        named = bisect_left(names, end) - bisect_left(names, start)
        has_number = bisect_right(numbers, end) > bisect_left(numbers, start)
        closing = said.rstrip(_MARKS_BEHIND)
        asks, leads_in = closing.endswith(_ASKS), closing.endswith(_LEADS_IN)
        if by_user:
            worth = 0.64 * math.log1p(tokens) + 0.36 * min(3, named) + 0.35 * has_number - 1.1 * asks - 1.2 * leads_in
        else:
            position = place / last if last else 0.5
            announces = before_call and place == last and not named
            worth = (
                0.7 * math.log1p(tokens)
                + 0.6 * (named > 0)
                + 0.25 * min(3, named)
                + 0.4 * has_number
                + 0.3 * (_FILE().search(said) is not None)
                - 1.0 * asks
                - 0.8 * closing.endswith(_CALLS_OUT)
                - 1.2 * announces
                - 0.6 * position
            )
        if not _ANYTHING().search(said):
            worth = _NOTHING
        made.append(Statement(part, start, end, tokens, worth, False, same_as(said)))
    for block in material:
        lines: list[Statement] = []
        for start, end, is_source in block:
            line = text[start:end]
            has_number = bisect_right(numbers, end) > bisect_left(numbers, start)
            is_error = not is_source and hinted(line.lower(), ERROR_HINTS)
            worth = 1.2 * is_error + 0.4 * has_number - 0.8 * is_source - 0.02 * len(line) / 4
            if not _ANYTHING().search(line):
                worth = _NOTHING
            lines.append(Statement(part, start, end, tokens_in(line), worth, True, same_as(line)))
        if not any(is_source for *_, is_source in block) and sum(one.tokens for one in lines) <= _ONE_TABLE:
            best = max((one.worth for one in lines), default=_NOTHING)
            lines = [one._replace(worth=best) for one in lines]
        made += lines
    made.sort(key=lambda one: one.start)
    yield from made


def _names(text: str) -> list[int]:
    """Where identifiers begin: paths, symbols, options, codes, calls, what stands in backticks. Rising."""
    found = [match.start() for match in _QUOTED_NAME().finditer(text, 0, _LONGEST_TEXT)] if "`" in text else []
    is_name = _NAME().match
    for match in _WORD().finditer(text, 0, _LONGEST_TEXT):
        word = match.group()
        if word.isalpha() and (word.islower() or word[1:].islower()):
            continue  # most words
        if is_name(word[:_BEGINNING]) or text.startswith("()", match.end()):
            found.append(match.start())
    return sorted(found)


def _spans(text: str) -> tuple[list[tuple[int, int]], list[list[tuple[int, int, bool]]]]:
    """Sentences of prose, and blocks of lines that were fenced, pasted or quoted, each line with whether it is source
    code; all rising.
    """
    shown = [(start, end, language not in _PRINTED) for start, end, language in fenced_spans(text)]
    shown += [(start, end, False) for start, end in pasted_spans(text)]
    if ">" in text:
        shown += [(*match.span(), False) for match in _QUOTED_LINE().finditer(text)]
    if len(text) > _LONGEST_TEXT:
        shown.append((_LONGEST_TEXT, len(text), False))
    shown.sort()
    prose: list[tuple[int, int]] = []
    at = 0
    for start, end, _ in (*shown, (len(text), len(text), False)):
        if start > at:
            prose += _sentences(text, at, start)
        at = max(at, end)
    material: list[list[tuple[int, int, bool]]] = []
    done = 0
    for start, end, is_source in shown:
        block: list[tuple[int, int, bool]] = []
        for low, high in _lines(text, max(start, done), end):
            line = text[low:high]
            block.append((low, high, is_source or line.rstrip().endswith(_SOURCE) or is_code(line)))
        material.append(block)
        done = max(done, end)
    return prose, material


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    between = text[start:end]
    for low, high in prose_lines(between):
        for first, last in sentence_spans(between, low, high):
            yield start + first, start + last


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline
        line = text[start:stop].strip()
        if line and not line.startswith(("```", "~~~")):
            yield start, stop
        start = stop + 1


def same_as(text: str) -> int:
    """A number that is equal for texts which differ in capitals, blanks and the full stop alone."""
    return hash(" ".join(text.split()).casefold().rstrip(".。"))
