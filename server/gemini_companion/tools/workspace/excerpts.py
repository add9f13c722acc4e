"""The lines of a text that a model is shown, with word of those that it is not."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.ide_context.secrets import mask_between
from gemini_companion.tools.counting import counted

MAX_LINES: Final = 2_000
MAX_LINE: Final = 2_000
"""Characters."""
CUT: Final = "… [line truncated]"
UNSAVED: Final = "This is the text in the editor, with edits that are not saved yet."
_LEAD: Final = re.compile(
    rf"\[(?:{UNSAVED}|Lines \d+ to \d+ of \d+ are shown\.|\d+ lines? (?:is|are) cut after |\d+ secrets are masked as )"
    r"[^\n]*\]\n"
)


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An excerpt of a text."""

    text: str
    first: int
    """Number of its first line, from 1; 0 if there is none."""
    last: int
    of: int
    """Lines that the text has."""
    cut: int = 0
    """Lines whose end is left out."""
    masked: int = 0
    """Secrets that were masked."""

    @property
    def is_all(self) -> bool:
        """True if nothing is left out."""
        return self.first <= 1 and self.last == self.of and not self.cut

    def notes(self) -> list[str]:
        """Sentences about what is left out, and how to get it."""
        notes: list[str] = []
        if self.last < self.of:
            notes.append(
                f"Lines {self.first} to {self.last} of {self.of} are shown."
                f" To read on, call read_file with start_line {self.last + 1}."
            )
        elif self.first > 1:
            notes.append(f"Lines {self.first} to {self.last} of {self.of} are shown.")
        if self.cut:
            lines = counted(self.cut, "line is", "lines are")
            notes.append(f"{lines} cut after {MAX_LINE} characters, marked with {CUT!r}.")
        if self.masked:
            notes.append(f"{self.masked} secrets are masked as [masked: …]; the file itself has them.")
        return notes


def without_lead(told: str) -> str:
    """The excerpt alone, of what the model was told with the notes in front of it."""
    lead = _LEAD.match(told)
    return told if lead is None else told[lead.end() :]


def shown(text: str, first: int | None, last: int | None, *, masks: bool = True) -> Shown:
    """Lines `first` to `last`, from 1 and with both ends, at most `MAX_LINES`. Line ends are line feeds.

    Masked before it is cut, so that no part of a secret stays.
    """
    text = with_line_feeds(text)
    breaks = _lines_of(text)
    of = len(breaks) - 1
    start = max(1, first or 1)
    end = min(of, last or of, start + MAX_LINES - 1)
    if start > end:
        return Shown(text="", first=0 if not of else start, last=end if of else 0, of=of)
    begin, finish = breaks[start - 1], breaks[end]
    excerpt, masked = mask_between(text, begin, finish, keep_lines=True) if masks else (text[begin:finish], 0)
    lines = excerpt.split("\n")
    cut = sum(len(line) > MAX_LINE for line in lines)
    if cut:
        excerpt = "\n".join(line if len(line) <= MAX_LINE else line[:MAX_LINE] + CUT for line in lines)
    return Shown(text=excerpt, first=start, last=end, of=of, cut=cut, masked=masked)


def _lines_of(text: str) -> list[int]:
    """Where each line begins, and where the last one ends."""
    begins = [0]
    at = text.find("\n")
    while at >= 0:
        begins.append(at + 1)
        at = text.find("\n", at + 1)
    if begins[-1] != len(text):
        begins.append(len(text))
    return begins
