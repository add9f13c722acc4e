"""Text as the symbols that repeats are counted in: the characters of prose, and one symbol for each other line.

Rows of tables, items of lists, headings, quotations, dividers and lines of code may look alike without anything being
wrong. Each is one symbol, made of all that it says: a few that are the same are no repeat worth speaking of, and a
passage of prose with the same table in it, over and over, is still found. How the text is cut into pieces makes no
difference: the beginning of a line waits until it is plain what it begins.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final
from zlib import crc32

LONGEST_HEAD: Final = 100
"""Characters that the beginning of a line waits at most; a longer divider is read as prose."""

_LONGEST_ITEM: Final = 250
"""Characters of a list's item, a quotation or a heading beyond which it is prose."""

_BLOCK: Final = 100
"""Characters of a table's row or of a line of code that make one symbol."""

_DEEPEST: Final = 80
"""Blanks before what a line begins with."""

_BULLETS: Final = "-*+•‣◦–—"
_DIVIDING: Final = " \\t\\r\\xa0\\u3000.:=_#/\\\\<>" + re.escape(_BULLETS) + "…·\u2015\u2500-\u259f"
_BEGINNING: Final = re.compile(
    rf"[ \t]{{0,{_DEEPEST}}}(?:(?P<fence>```|~~~)|(?P<row>\|)"
    rf"|(?P<item>#{{1,6}}[ \t]|>|[{re.escape(_BULLETS)}][ \t]|[・●■○◆□◇※]|\d{{1,9}}(?:[.)][ \t]|[．）])))"
)
_UNDECIDED: Final = re.compile(rf"[ \t]*+(?:[{_DIVIDING}]*+|`{{1,2}}|~{{1,2}}|\d{{1,9}}[.)]?)\Z")
_DIVIDER: Final = re.compile(rf"[{_DIVIDING}]{{3,}}\Z")
_BLANKS: Final = " \t\r\xa0\u3000"


class _Line(Enum):
    START = 0
    PROSE = 1
    ITEM = 2
    ROW = 3
    """Of a table, or of code."""


class Symbols:
    """Makes symbols of a text that comes in pieces. Keeps at most the beginning of a line."""

    __slots__ = ("_crc", "_fence", "_head", "_length", "_line")

    def __init__(self) -> None:
        self._line = _Line.START
        self._head = ""
        self._fence = ""
        """What ends the block of code; empty outside of one."""
        self._crc = 0
        self._length = 0

    def copy(self) -> Symbols:
        """The same state, apart from this one."""
        other = Symbols()
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def feed(self, text: str) -> str:
        """The symbols of the next piece, as far as they are known."""
        if self._line is _Line.PROSE and "\n" not in text:
            return text
        made: list[str] = []
        start, length = 0, len(text)
        while start < length:
            end = text.find("\n", start)
            if end < 0:
                made.append(self._take(text[start:]))
                break
            if end > start:
                made.append(self._take(text[start:end]))
            made.append(self._end_line())
            start = end + 1
        return "".join(made)

    def end(self) -> str:
        """The symbols that wait, at the end of an answer; the next one begins outside of any block of code."""
        made = "" if self._line is _Line.START and not self._head else self._end_line()
        self._fence = ""
        return made

    def _take(self, piece: str) -> str:
        match self._line:
            case _Line.PROSE:
                return piece
            case _Line.START:
                return self._begin(piece)
            case _Line.ITEM:
                room = _LONGEST_ITEM - self._length
                self._digest(piece[:room])
                if len(piece) <= room:
                    return ""
                self._line = _Line.PROSE
                return self._symbol() + piece[room:]
            case _Line.ROW:
                made: list[str] = []
                at = 0
                while at < len(piece):
                    if self._length == _BLOCK:
                        made.append(self._symbol())
                    room = _BLOCK - self._length
                    self._digest(piece[at : at + room])
                    at += room
                return "".join(made)

    def _begin(self, piece: str) -> str:
        self._head += piece
        line = self._kind()
        if line is None:
            return ""
        head, self._head, self._line = self._head, "", line
        return self._take(head)

    def _kind(self) -> _Line | None:
        """What the line is, `None` while that is not plain. It never depends on what follows."""
        head = self._head
        if self._fence:
            body = head.lstrip(" \t")
            if len(head) - len(body) <= _DEEPEST:
                if body.startswith(self._fence):
                    self._fence = ""
                    return _Line.PROSE  # some models go on behind it, in the same line
                if self._fence.startswith(body):
                    return None
            return _Line.ROW
        found = _BEGINNING.match(head)
        if found is None:
            return None if len(head) <= LONGEST_HEAD and _UNDECIDED.match(head) else _Line.PROSE
        if found["fence"]:
            self._fence = found["fence"]
        return _Line.ITEM if found["item"] else _Line.ROW

    def _end_line(self) -> str:
        line, head = self._line, self._head
        self._line, self._head = _Line.START, ""
        match line:
            case _Line.PROSE:
                return "\n"
            case _Line.START if self._fence or (head.strip(_BLANKS) and _DIVIDER.match(head)):
                self._digest(head)
                return self._symbol()
            case _Line.START:
                return head.rstrip(_BLANKS) + "\n"
            case _:
                return self._symbol()

    def _digest(self, piece: str) -> None:
        self._crc = crc32(piece.encode("utf-8", "surrogatepass"), self._crc)
        self._length += len(piece)

    def _symbol(self) -> str:
        made = symbol(self._crc)
        self._crc = self._length = 0
        return made


def symbol(number: int) -> str:
    """The symbol for a number: a character that no text has a use for."""
    return chr(0xF0000 | (number & 0xFFFF))
