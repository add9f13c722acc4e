"""What a terminal would show in the end of what a program puts out: no colours, no signs that move a cursor.

Programs are told that there is no terminal (`TERM=dumb`), and some write for one all the same. A model pays for each of
these signs, and a panel must not act on them. A title or a link has words that stand nowhere else: it is written out.
Of a line that was written over and over, as progress bars do, the states that are alike are left out but for the last,
and counted. Each that says something else is a line of its own: it may be an error between two steps, or a file whose
lines end as those of old Macs do.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_LINE: Final = 65_536
"""Characters of a line that may still be written over; what is longer is taken as it is."""
LONGEST_SEQUENCE: Final = 4_096
# What begins a sequence is in none: each text is looked through once, however many beginnings without an end are in it.
_STRING: Final = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*+"
_SEQUENCE: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]" rf"|{_STRING}(?:\x07|\x1b\\|\x9c)" r"|\x1b[ -/]*+[0-~]"
)
_STRING_BEGINS: Final = re.compile(r"\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]")
_UNFINISHED: Final = re.compile(rf"(?:(?:\x1b\[|\x9b)[0-?]*+[ -/]*+|{_STRING}\x1b?|\x1b[ -/]*+|\r)\Z")
_ENDS: Final = re.compile(r"(?<!\r)\r++\n")
_ESCAPE: Final = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_SPECIAL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_TEXT: Final = frozenset(map(chr, (*range(7), *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0))))
_CONTROLS: Final = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0))))

_WORD: Final = re.compile(r"(?<![\w.,:])[^\W\d_][\w'-]*")
_PROGRESS: Final = re.compile(
    r"\W*(?:\d+(?:\.\d+)?\W*)?"  # a bar, a spinner, one number
    r"|.*(?:%|\d[ \t]{0,3}/[ \t]{0,3}\d|\d:\d\d|--:--|[#=█━▓]{2}).*",
    re.DOTALL,
)
"""A state without words that is a step of something under way, and no row of numbers."""


class PlainText:
    """Takes text in pieces of any size, and gives what is certain of it. Takes time in proportion to the text."""

    def __init__(self) -> None:
        self._unfinished = ""
        self._line = ""
        self._shown = ""
        self.repaints = 0
        """States of lines that were left out, for the next one was like them."""

    @property
    def line(self) -> str:
        """The line that has not ended, as it stands."""
        return "\n".join(_states(self._line)[0])

    def feed(self, text: str, *, is_last: bool = False) -> tuple[str, str]:
        """What is certain now, whole lines but for the last; and what is new for somebody who watches.

        To them a line is shown as it comes until it is written over; then again when it ends.
        """
        text = self._unfinished + text
        self._unfinished = ""
        return self._taken(text if _SPECIAL.search(text) is None else self._cleared(text, is_last=is_last), is_last)

    def _cleared(self, text: str, *, is_last: bool) -> str:
        found = None if is_last else _UNFINISHED.search(text, max(0, len(text) - LONGEST_SEQUENCE))
        if found:
            self._unfinished = found[0]
            text = text[: found.start()]
        text = _ENDS.sub("\n", _SEQUENCE.sub(_words_of, text) if _ESCAPE.search(text) else text).replace("\a", "")
        for sign in _NO_TEXT.intersection(text):  # some fifty at most: much faster than sign by sign
            text = text.replace(sign, f"\\x{ord(sign):02x}")
        return text

    def _taken(self, text: str, is_last: bool) -> tuple[str, str]:
        before, feed, rest = text.rpartition("\n")
        certain: list[str] = []
        watched: list[str] = []
        if feed:
            for piece in before.split("\n"):
                self._end(self._line + piece, certain, watched)
        self._line += rest
        if "\r" in self._line:
            ended, is_over, last = self._line.rpartition("\r")
            lines, repaints = _states(ended)
            self.repaints += repaints
            for line in lines[:-1]:
                self._put(line, certain, watched)
            self._line = "".join(lines[-1:]) + is_over + last
        if is_last or len(self._line) > LONGEST_LINE:
            lines, repaints = _states(self._line)
            self.repaints += repaints
            for line in lines[:-1]:
                self._put(line, certain, watched)
            certain += lines[-1:]
            watched += [self._news(line) for line in lines[-1:]]
            self._line = self._shown = ""
        elif "\r" not in self._line and "\b" not in self._line:
            watched.append(self._news(self._line))
            self._shown = self._line
        return "".join(certain), "".join(watched)

    def _end(self, line: str, certain: list[str], watched: list[str]) -> None:
        lines, repaints = _states(line)
        self.repaints += repaints
        for one in lines or [""]:
            self._put(one, certain, watched)
        self._line = ""

    def _put(self, line: str, certain: list[str], watched: list[str]) -> None:
        certain.append(f"{line}\n")
        watched.append(self._news(line) + "\n")
        self._shown = ""

    def _news(self, line: str) -> str:
        return line[len(self._shown) :] if line.startswith(self._shown) else f"\n{line}"


def _words_of(sequence: re.Match[str]) -> str:
    """What a control sequence says: nothing, but for those that carry a text."""
    found = sequence[0]
    if not _STRING_BEGINS.match(found):
        return ""
    return "".join(f"\\x{ord(sign):02x}" if sign in _CONTROLS else sign for sign in found)


def _states(line: str) -> tuple[list[str], int]:
    """The states of a line that each say something else, in order, and how many others it had."""
    kept: list[str] = []
    repaints = 0
    for piece in line.split("\r"):
        state = _with_steps_back(piece)
        if not state.strip():
            continue
        if kept and _is_repaint(kept[-1], state):
            repaints += 1
            kept.pop()
        kept.append(state)
    return (kept if kept or "\r" in line else [_with_steps_back(line)] if line else []), repaints


def _is_repaint(before: str, after: str) -> bool:
    """Whether what stands there now says what stood there before: the same words, or those and more."""
    words = _WORD.findall(before)
    others = _WORD.findall(after)
    if words:
        return others[: len(words)] == words
    return not others and all(_PROGRESS.fullmatch(one) for one in (before, after))


def _with_steps_back(text: str) -> str:
    if "\b" not in text:
        return text
    kept: list[str] = []
    for sign in text:
        if sign != "\b":
            kept.append(sign)
        elif kept:
            kept.pop()
    return "".join(kept)
