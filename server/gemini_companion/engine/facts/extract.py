"""Finding facts in contents: paths, commands, directives, errors, numbers, open tasks, addresses; every one word for word."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, cast

from gemini_companion.engine.facts.commands import command_of, fenced_commands
from gemini_companion.engine.facts.fact import Fact as Fact
from gemini_companion.engine.facts.fact import FactKind
from gemini_companion.engine.facts.fact import FactSource as FactSource
from gemini_companion.engine.facts.paths import paths_in, paths_of_argument
from gemini_companion.engine.facts.patterns import (
    COMMANDS,
    DIRECTIVE_HINTS,
    ERROR_HINTS,
    ERRORS,
    PLAN_HINTS,
    TASK_HINTS,
    TASKS,
    URLS,
    Row,
    compiled,
    directive_cue,
    hinted,
    number,
    plan_cue,
)
from gemini_companion.engine.facts.sentences import pieces, prose_lines, sentence_spans
from gemini_companion.engine.history.part import call_of, is_plain_user, is_thought, response_of, response_text, text_of

_LONGEST_LINE: Final = 400
"""Characters of an error's line; what is longer is data."""
_LONGEST_SENTENCE: Final = 240
"""Characters of a line in somebody's words that reports an error rather than talks about one."""
_BEFORE_DIGIT: Final = 64
"""Characters before a number that can belong to it: `version `, `gift_card_`."""
_SHORT_HEADING: Final = 40
"""Characters below which what ends in a colon is a heading."""
_DEEPEST: Final = 32
"""Levels of nesting that are looked into in the arguments of a call."""

_Found: TypeAlias = tuple[FactKind, str, bool]
"""A fact's kind, text and certainty."""


def extract_facts(items: Sequence[FactSource]) -> list[Fact]:
    """Every fact of every content, in order; each text once per kind and content. Total: no content makes it raise."""
    facts: list[Fact] = []
    for item in items:
        facts.extend(facts_of(item))
    return facts


def facts_of(source: FactSource) -> list[Fact]:
    """The facts of one content, each text once per kind."""
    found: dict[tuple[FactKind, str], bool] = {}
    by_user = is_plain_user(source.content) and not source.ide_context
    for part in source.content.parts:
        if is_thought(part):
            continue
        for kind, text, certain in _facts_of_part(part, by_user=by_user, paths_only=source.ide_context):
            if text and (certain or (kind, text) not in found):
                found[kind, text] = certain
    return [Fact(kind, text, source.index, source.seq, certain) for (kind, text), certain in found.items()]


def result_text(response: dict[str, Any]) -> str:
    """The text that a function response carries, or its JSON."""
    text = response_text(response)
    if text is not None:
        return text
    body: Any = response.get("response")
    if isinstance(body, dict) and len(fields := cast("dict[str, Any]", body)) == 1:
        only = next(iter(fields.values()))
        if isinstance(only, str):
            return only
    return as_json(cast("object", body)) if body else ""


def as_json(value: object) -> str:
    """`value` as JSON on one line, whatever it holds."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def find(rows: tuple[Row, ...], text: str) -> Iterator[str]:
    """What the rows of the pattern table find in `text`, in the rows' order."""
    for pattern, captures in compiled(rows):
        for match in pattern.finditer(text):
            yield (match["fact"] if captures else match.group()).rstrip()


def directives_in(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every sentence of the prose in `text` that holds a directive's cue; a short heading is none."""
    for start, end in _sentences_with(directive_cue(), DIRECTIVE_HINTS, text):
        if end - start >= _SHORT_HEADING or text[end - 1] not in ":：":
            yield start, end


def _sentences_with(cue: re.Pattern[str], hints: tuple[str, ...], text: str) -> Iterator[tuple[int, int]]:
    if any(hinted(piece.lower().replace("\n", " "), hints) and cue.search(piece) for piece in pieces(text)):
        for low, high in prose_lines(text):
            if cue.search(text, low, high):
                yield from (span for span in sentence_spans(text, low, high) if cue.search(text, *span))


def error_lines(text: str) -> Iterator[str]:
    """The lines of `text` that say what went wrong, without the blanks around them and cut where too long. Code is none."""
    last = -1
    for start, end in sorted(match.span() for pattern, _ in compiled(ERRORS) for match in pattern.finditer(text)):
        if start < last:
            continue
        low = text.rfind("\n", 0, start + 1) + 1 if text[start : start + 1] != "\n" else start + 1
        high = text.find("\n", end)
        last = len(text) if high < 0 else high
        line = text[low : min(last, low + _LONGEST_LINE)].strip()
        if line and not is_code(line):
            yield line


def numbers_in(text: str) -> Iterator[str]:
    """Ports, versions, ids, sums, dates, measures and line numbers in `text`."""
    digit = _digit().search(text)
    if digit is not None:
        for match in number().finditer(text, max(0, digit.start() - _BEFORE_DIGIT)):
            yield match.group().rstrip()


def is_code(text: str, start: int = 0, end: int | None = None) -> bool:
    """True for a line of a listing or of source code."""
    return _code().match(text, start, len(text) if end is None else end) is not None


def _facts_of_part(part: dict[str, Any], *, by_user: bool, paths_only: bool) -> Iterator[_Found]:
    if (text := text_of(part)) is not None:
        if paths_only:
            for piece in pieces(text):
                yield from _paths(piece)
            return
        if by_user:
            sure = directive_cue(certain=True)
            for start, end in directives_in(text):
                yield "directive", text[start:end], sure.search(text, start, end) is not None and not is_code(text, start, end)
        for start, end in _sentences_with(plan_cue(), PLAN_HINTS, text):
            if text[end - 1] not in "?？":
                yield "task", text[start:end], True
        yield from _facts_of_text(text, longest_error=_LONGEST_SENTENCE)
    elif (call := call_of(part)) is not None:
        command = command_of(call)
        if command is not None:
            yield "command", command, True
        for key, value in _strings(call.get("args")):
            for piece in pieces(value):
                for path, certain in paths_of_argument(key, piece):
                    yield "path", path, certain
                yield from _surely("url", _addresses(piece))
                yield from _surely("number", numbers_in(piece))
    elif (response := response_of(part)) is not None:
        yield from _facts_of_text(result_text(response))
    elif isinstance(code := part.get("executableCode"), dict):
        yield "command", str(cast("dict[str, Any]", code).get("code") or "").rstrip(), True
    elif isinstance(result := part.get("codeExecutionResult"), dict):
        yield from _facts_of_text(str(cast("dict[str, Any]", result).get("output") or ""))


def _facts_of_text(text: str, longest_error: int = sys.maxsize) -> Iterator[_Found]:
    for piece in pieces(text):
        yield from _paths(piece)
        if "$" in piece or "`" in piece or "PS " in piece:
            yield from _surely("command", find(COMMANDS, piece))
        lowered = piece.lower()
        if hinted(lowered, ERROR_HINTS):
            yield from _surely("error", (line for line in error_lines(piece) if len(line) <= longest_error))
        yield from _surely("number", numbers_in(piece))
        if hinted(lowered, TASK_HINTS):
            yield from _surely("task", find(TASKS, piece))
        yield from _surely("url", _addresses(piece))
    if "```" in text or "~~~" in text:
        for command, certain in fenced_commands(text):
            yield "command", command, certain


def _paths(text: str) -> Iterator[_Found]:
    for path, certain in paths_in(text):
        yield "path", path, certain


def _surely(kind: FactKind, texts: Iterable[str]) -> Iterator[_Found]:
    for text in texts:
        yield kind, text, True


def _addresses(text: str) -> Iterator[str]:
    if "://" in text:
        for url in find(URLS, text):
            yield url.rstrip(".,;:!?*_")


def _strings(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every string in a JSON value with the name of the field that it stands in."""
    if isinstance(value, str):
        yield key, value
    elif depth < _DEEPEST:
        if isinstance(value, dict):
            for name, inner in cast("dict[str, Any]", value).items():
                yield from _strings(inner, str(name), depth + 1)
        elif isinstance(value, list | tuple):
            for inner in cast("list[Any]", value):
                yield from _strings(inner, key, depth + 1)


@cache
def _digit() -> re.Pattern[str]:
    return re.compile(r"\d")


@cache
def _code() -> re.Pattern[str]:
    return re.compile(r"\d{1,7}[:|][ \t]*|(?:raise|except|throw|catch|log(?:ger)?|print|assert|return|def|if|class)\b[ (.]|[#*]|//")
