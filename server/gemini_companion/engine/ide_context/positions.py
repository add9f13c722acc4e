"""LSP positions to 1-based lines and characters.

LSP counts lines and characters from 0, and characters in units of the negotiated encoding; a model gets code points
from 1. Whatever a client sends is clamped to the text: nothing here raises.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, TypeAlias

from gemini_companion.engine.ide_context.state import Cursor

PositionEncoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

_LINE_BREAK = re.compile(r"\r\n|\n|\r")  # the line ends of LSP 3.17
_MAX_LINE = 2**31 - 1  # LSP's uinteger


def line_span(text: str, line: int) -> tuple[int, int]:
    """Start and end (without its line break) of line `line`, from 0.

    A line past the end is the last one, a negative one the first.
    """
    start = 0
    if line > 0:
        breaks = islice(_LINE_BREAK.finditer(text), min(line, _MAX_LINE))
        for found in breaks:
            start = found.end()
    end = _LINE_BREAK.search(text, start)
    return start, end.start() if end else len(text)


def count_line_breaks(text: str) -> int:
    """Number of line breaks in `text`."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def characters_before(line_text: str, offset: int, encoding: PositionEncoding) -> int:
    """Number of whole characters before `offset` units of `encoding`; at most the line's length.

    An offset inside a character counts as one before that character.
    """
    if offset <= 0:
        return 0
    if encoding == "utf-32" or (line_text.isascii()):
        return min(offset, len(line_text))
    if encoding == "utf-16":
        if offset >= 2 * len(line_text):
            return len(line_text)
        head = line_text[:offset].encode("utf-16-le", "surrogatepass")[: 2 * offset]
        return len(head.decode("utf-16-le", "ignore"))
    if offset >= 4 * len(line_text):
        return len(line_text)
    head = line_text[:offset].encode("utf-8", "replace")[:offset]
    return len(head.decode("utf-8", "ignore"))


def offset_at(text: str, line: int, character: int, encoding: PositionEncoding) -> int:
    """The index into `text` of an LSP position."""
    start, end = line_span(text, line)
    return start + characters_before(text[start:end], character, encoding)


def cursor_at(text: str | None, line: int, character: int, encoding: PositionEncoding) -> Cursor:
    """The 1-based cursor of an LSP position in `text`.

    Where the text is not known (`None`), units are taken for characters.
    """
    if text is None:
        return Cursor(line=_clamp(line) + 1, character=_clamp(character) + 1)
    start, end = line_span(text, line)
    reached = count_line_breaks(text[:start])
    return Cursor(line=reached + 1, character=characters_before(text[start:end], character, encoding) + 1)


def text_between(text: str, start: tuple[int, int], end: tuple[int, int], encoding: PositionEncoding) -> str:
    """The text of an LSP range, given as (line, character) pairs in either order."""
    first, last = sorted((offset_at(text, *start, encoding), offset_at(text, *end, encoding)))
    return text[first:last]


def _clamp(value: int) -> int:
    return max(0, min(value, _MAX_LINE))
