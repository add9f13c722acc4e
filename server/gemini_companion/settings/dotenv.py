"""Reading `.env` files as Gemini CLI reads them: its grammar, and nothing filled in.

A dialect of its own: the parsers for Python put the values of variables into texts and read escapes that Gemini CLI
leaves alone, so that a key with a `$` or a backslash in it would be another one here.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"[^\S\n]*+(?:export[^\S\n]++)?([A-Za-z0-9_.-]++)(?:[^\S\n]*+=|:[^\S\n])")
_BLANKS: Final = re.compile(r"[^\S\n]*+")
_REST: Final = re.compile(r"[^\S\n]*+(?:#[^\n]*+)?(?=\n|\Z)")
_BARE: Final = re.compile(r"[^#\n]*+")
_QUOTES: Final = "'\"`"


class Variable(NamedTuple):
    """One variable of a file."""

    name: str
    value: str
    line: int
    """Where it begins, from 1."""


def parse_env(text: str) -> list[Variable]:
    """The variables of a text, in its order; of equal names the last one counts. Takes time in proportion to the text.

    `NAME=value`, `export` before it or `:` and a blank in place of `=`. A value in quotes may have several lines and
    `#`; one without ends at its line or at `#`. A line end in double quotes may be spelled out. Other lines are passed
    over.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found: list[Variable] = []
    at, line = 0, 1
    while at < len(text):
        named = _NAME.match(text, at)
        end = at
        if named:
            value, end = _value(text, named.end())
            found.append(Variable(named.group(1), value, line))
        newline = text.find("\n", end)
        after = len(text) if newline < 0 else newline + 1
        line += text.count("\n", at, after)
        at = after
    return found


def _value(text: str, start: int) -> tuple[str, int]:
    """The value that begins there, and where it ends."""
    begin = _end_of(_BLANKS, text, start)
    quote = text[begin : begin + 1]
    closing = _closing(text, begin) if quote and quote in _QUOTES else -1
    if closing >= 0:
        value, end = text[begin + 1 : closing], closing + 1
    else:
        end = _end_of(_BARE, text, start)
        value = text[start:end].strip()
        if len(value) > 1 and quote and quote in _QUOTES and value.endswith(quote):
            value = value[1:-1]
    if quote == '"':
        value = value.replace("\\n", "\n").replace("\\r", "\r")
    return value, end


def _closing(text: str, begin: int) -> int:
    """Where the quote that opens there is closed, with nothing but a remark behind it; -1 if it is not.

    That is the next one without a backslash before it, or, where something stands behind that, the last one before it.
    """
    quote, escaped, at = text[begin], -1, begin
    while (at := text.find(quote, at + 1)) >= 0:
        if text[at - 1] != "\\" or at == begin + 1:
            break
        escaped = at
    return next((place for place in (at, escaped) if place > begin and _REST.match(text, place + 1)), -1)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
