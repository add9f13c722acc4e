"""Line endings: a text as its lines with line feeds alone, and where each place of that is in the text itself.

A line ends with a line feed, or with a carriage return and a line feed. A carriage return that stands alone is a
character like any other, but in a text that has no line feed at all: there it ends the lines (`ends_with_cr`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

CRLF = "\r\n"
LF = "\n"


class LineFeedView:
    """A text in which every line ends with a line feed alone."""

    def __init__(self, text: str) -> None:
        self.original = text
        self.text = with_line_feeds(text)
        self._seams: list[int] = []
        """Offsets in `text` of the line feeds that have a carriage return before them in `original`."""
        at = text.find(CRLF)
        while at >= 0:
            self._seams.append(at - len(self._seams))
            at = text.find(CRLF, at + 2)

    def offset(self, at: int) -> int:
        """Where in the original a place of the view is; before the carriage return, at the end of a line."""
        return at + bisect_left(self._seams, at)

    def ending(self, at: int) -> str:
        """How the line ends whose line feed is at `at`."""
        index = bisect_left(self._seams, at)
        return CRLF if index < len(self._seams) and self._seams[index] == at else LF

    def endings(self) -> list[str]:
        """How each line ends, in order."""
        endings: list[str] = []
        seams = set(self._seams)
        at = self.text.find(LF)
        while at >= 0:
            endings.append(CRLF if at in seams else LF)
            at = self.text.find(LF, at + 1)
        return endings

    def ending_near(self, start: int, end: int) -> str:
        """How lines end around a span of the view: the line that it ends in, else the one before it."""
        if not self._seams:
            return LF
        behind = self.text.find(LF, end)
        if behind >= 0:
            return self.ending(behind)
        before = self.text.rfind(LF, 0, end)
        return self.ending(before) if before >= 0 else LF

    def spliced(self, start: int, end: int, new: str) -> str:
        """What takes the place of `original[offset(start):offset(end)]`, so that the view has `new` there.

        Its first lines end as the lines did that it replaces, and all others as their neighbours do.
        """
        old: list[int] = []
        at = self.text.find(LF, start, end)
        while at >= 0:
            old.append(at)
            at = self.text.find(LF, at + 1, end)
        first, *rest = new.split(LF)
        pieces = [first]
        near = LF if not rest else self.ending(old[-1]) if old else self.ending_near(start, end)
        for index, line in enumerate(rest):
            pieces += [self.ending(old[index]) if index < len(old) else near, line]
        return "".join(pieces)

    def replaced(self, spans: Iterable[tuple[int, int, str]]) -> str:
        """The original with other texts in place of spans of the view, which are in order and apart from each other.

        Everything else stays as it is, byte for byte.
        """
        pieces: list[str] = []
        done = 0
        for start, end, new in spans:
            pieces += [self.original[done : self.offset(start)], self.spliced(start, end, new)]
            done = self.offset(end)
        pieces.append(self.original[done:])
        return "".join(pieces)

    def line(self, at: int) -> int:
        """The number of the line that a place of the view is in, from 1."""
        return self.text.count(LF, 0, at) + 1


def ends_with_cr(text: str) -> bool:
    """Whether carriage returns alone end the lines of a text."""
    return "\r" in text and LF not in text


def with_line_feeds(text: str) -> str:
    """The text with a line feed alone at the end of every line."""
    return text.replace(CRLF, LF)
