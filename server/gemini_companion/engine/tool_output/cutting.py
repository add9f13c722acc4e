"""A long output cut to what fits: its beginning, its end, and the lines between them that report something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.compression.truncate import HEAD_SHARE, MINIMUM_OUTPUT_CHARACTERS, head_and_tail

OutputShape: TypeAlias = Literal["text", "file", "listing", "search", "command"]
"""What an output consists of; the same as `tools.tool.Shape`."""

COMMAND_LINES: Final = 1_000
"""Lines that are left of what a command put out."""

LINE_CHARACTERS: Final = 2_000
"""Characters that are left of a line, but in plain text."""

_CUT_BEFORE: Final = 64
"""A line is longer than that by no more than this where its tool has cut it: its number, and word of the cut."""

_LEAST_OF_LONG: Final = 400
"""Where lines do not fit, long ones are cut down to this before any other line is left out."""

REPORT_SHARE: Final = 0.15
"""Share of the limit for lines from the middle that report errors and warnings."""

REPORT_CHARACTERS: Final = 300
"""Characters that are left of such a line."""

ALIKE_SHARE: Final = 0.9
"""Share of a command's lines that differ in their numbers alone from which on showing more of them says little more."""

ALIKE_ROOM: Final = 0.25
"""Share of the limit that such an output gets."""

_ALIKE_LEAST: Final = 20
"""Lines that are the same but for their numbers count as alike where there are so many of them."""

_ODD_MOST: Final = 2
"""Of such an output, a line of which there are no more than these is shown like a report."""

_LIST_HEAD_SHARE: Final = 0.8
"""The same as `HEAD_SHARE` for files, listings and matches, which are read from their beginning."""

_LEAST_CHARACTERS: Final = 80
"""A line is not cut to less than this."""

_ERROR: Final = re.compile(
    r"(?:error|exception)s?\b|\b(?:fail(?:ed|ures?|ing)?|fatal|panic(?:ked)?|traceback|critical|denied|killed)\b|^E  ",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[0-9]+")
_GAP: Final = re.compile(r"\[… ([0-9,]{1,15}) lines? left out …\]")
_WARNING: Final = re.compile(r"\b(?:warn(?:ings?)?|deprecated|deprecation\w{0,20})\b", re.IGNORECASE)


class _Shown(NamedTuple):
    """Lines that are left, as numbers from 0."""

    head: int
    tail: int
    """Lines from here on."""
    reports: tuple[int, ...] = ()
    """Single ones between them."""


def cut_output(whole: str, *, shape: OutputShape, limit: int, where: str) -> str | None:
    """What is left of an output in at most `limit` characters; `None` if all of it may stay.

    `where` is a sentence that says how the whole is read; what was left out is counted where it is missing. `limit` is
    never taken as less than `MINIMUM_OUTPUT_CHARACTERS`. A command's output keeps at most `COMMAND_LINES` lines, of
    which lines that report errors and warnings may be from its middle. Lines are cut at `LINE_CHARACTERS` but in text.
    """
    limit = max(limit, MINIMUM_OUTPUT_CHARACTERS)
    if shape == "text":
        return None if len(whole) <= limit else _if_shorter(head_and_tail(whole, where=where, limit=limit), limit)
    lines = whole.split("\n")
    most_lines = COMMAND_LINES if shape == "command" else len(lines)
    if len(whole) <= limit and len(lines) <= most_lines and max(map(len, lines)) <= LINE_CHARACTERS + _CUT_BEFORE:
        return None
    if len(lines) == 1 and len(whole) > limit:  # one line is no better than plain text
        return _if_shorter(head_and_tail(whole, where=where, limit=limit), limit)
    odd = _odd_ones(whole) if shape == "command" and len(whole) > limit else None
    if odd is not None:
        limit, most_lines = max(int(limit * ALIKE_ROOM), MINIMUM_OUTPUT_CHARACTERS), int(most_lines * ALIKE_ROOM)
    return _Cutting(lines, limit, most_lines, shape, where, odd).text()


def _if_shorter(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit]


class _Cutting:
    """One output that is being cut by lines."""

    def __init__(
        self,
        lines: Sequence[str],
        limit: int,
        most_lines: int,
        shape: OutputShape,
        where: str,
        odd: frozenset[int] | None = None,
    ) -> None:
        self._lines = lines
        self._shape = shape
        self._odd = odd
        self._where = where if len(where) <= limit // 2 else where[: limit // 2]
        # A command's output of which the middle was never held says how much that is.
        self._hole, hole = next(
            ((at, found) for at, line in enumerate(lines) if (found := _GAP.fullmatch(line)) and shape == "command"),
            (-1, None),
        )
        self._missing = int(hole[1].replace(",", "")) if hole else 0
        self._gap = len(gap_of(len(lines) + self._missing)) + 1
        total = len(lines) + self._missing
        opening = max(len(self._opening(total, one)) for one in (total, total + 1))
        self._characters = max(0, limit - opening - self._gap)
        self._line = max(_LEAST_CHARACTERS, min(LINE_CHARACTERS + _CUT_BEFORE, self._characters // 8))
        self._most_lines = max(2, most_lines - 2) if shape == "command" else len(lines)
        if shape != "command" and (fitting := self._all_fit()) is not None:
            self._line = fitting
        self._head_share = HEAD_SHARE if shape == "command" else _LIST_HEAD_SHARE

    def _all_fit(self) -> int | None:
        """How long lines may be for all of them to fit; `None` if too little would be left of the long ones."""
        room = self._characters - len(self._lines)
        lengths = sorted(map(len, self._lines))
        for number, length in enumerate(lengths):
            share = room // (len(lengths) - number)
            if length > share:
                return min(share, LINE_CHARACTERS + _CUT_BEFORE) if share >= _LEAST_OF_LONG else None
            room -= length
        return LINE_CHARACTERS + _CUT_BEFORE

    def text(self) -> str:
        """The cut text."""
        lines, shown = self._lines, self._ends(1.0)
        if shown.head < shown.tail and sum(map(self._cost, lines)) <= self._characters and self._shape != "command":
            shown = _Shown(len(lines), len(lines))
        if self._shape == "command":
            shown = self._with_reports(shown)
        kept = [*range(shown.head), *shown.reports, *range(shown.tail, len(lines))]
        shows_hole = self._hole in kept
        total = len(lines) + self._missing - (self._hole >= 0)
        return self._opening(len(kept) - shows_hole, total) + "\n".join(self._pieces(shown, kept))

    def _opening(self, kept: int, total: int) -> str:
        left = f"{kept:,} of {total:,} lines are shown" if kept < total else "long lines are cut"
        left += ", most are alike" if self._odd is not None else ""
        return f"[Shortened: {left}. {self._where}]\n"

    def _ends(self, share: float) -> _Shown:
        """Head and tail that fit into a share of the room."""
        lines, room = self._lines, int(self._characters * share)
        most = int(self._most_lines * share)
        head = self._fitting(lines, int(room * self._head_share), max(1, int(most * self._head_share)))
        used = sum(self._cost(line) for line in lines[:head])
        tail = self._fitting(lines[head:][::-1], room - used, max(1, most - head))
        return _Shown(head, len(lines) - tail)

    def _fitting(self, lines: Sequence[str], room: int, most: int) -> int:
        """How many of the first lines fit."""
        for number, line in enumerate(lines[:most]):
            room -= self._cost(line)
            if room < 0:
                return number
        return min(most, len(lines))

    def _cost(self, line: str) -> int:
        return min(len(line), self._line) + 1

    def _with_reports(self, shown: _Shown) -> _Shown:
        """The same, a little shorter, with lines that report something, errors first, as far as there is room."""
        ranks = {number: self._rank(number) for number in range(shown.head, shown.tail)}
        if not any(ranks.values()):
            return shown
        shorter = self._ends(1 - REPORT_SHARE)
        ranks |= {number: self._rank(number) for number in range(shorter.head, shown.head)}
        ranks |= {number: self._rank(number) for number in range(shown.tail, shorter.tail)}
        room, most = int(self._characters * REPORT_SHARE), int(self._most_lines * REPORT_SHARE)
        taken: list[int] = []
        for _, number in sorted((rank, number) for number, rank in ranks.items() if rank):
            cost = min(len(self._lines[number]), REPORT_CHARACTERS) + 1 + self._gap
            if cost > room or most < 2:
                break
            room, most = room - cost, most - 2
            taken.append(number)
        return shorter._replace(reports=tuple(sorted(taken)))

    def _rank(self, number: int) -> int:
        """The same as `_rank`, and 3 for a line like no other."""
        line = self._lines[number]
        return _rank(line) or (3 if self._odd is not None and number in self._odd and line.strip() else 0)

    def _pieces(self, shown: _Shown, kept: Sequence[int]) -> Iterator[str]:
        reports, expected = frozenset(shown.reports), 0
        for number in kept:
            if number > expected:
                yield gap_of(self._between(expected, number))
            line, most = self._lines[number], REPORT_CHARACTERS if number in reports else self._line
            yield line if len(line) <= most else capped(line, min(most, LINE_CHARACTERS))
            expected = number + 1
        if expected < len(self._lines):
            yield gap_of(self._between(expected, len(self._lines)))

    def _between(self, start: int, end: int) -> int:
        """How many lines these are."""
        return end - start + (self._missing - 1 if start <= self._hole < end else 0)


def capped(line: str, limit: int) -> str:
    """A line of at most `limit` characters: its beginning and its end, with the number of those left out between."""
    limit = max(limit, _LEAST_CHARACTERS)
    if len(line) <= limit:
        return line
    room = limit - len(_hole(len(line)))
    head = room // 2
    tail = room - head
    return f"{line[:head]}{_hole(len(line) - head - tail)}{line[len(line) - tail :]}"


def _hole(missing: int) -> str:
    return f" [… {missing:,} characters …] "


def gap_of(missing: int) -> str:
    """What stands in place of so many lines."""
    return f"[… {missing:,} {'line' if missing == 1 else 'lines'} left out …]"


def _rank(line: str) -> int:
    """1 for a line that reports an error, 2 for a warning, 0 for any other."""
    beginning = line[:LINE_CHARACTERS]
    return 1 if _ERROR.search(beginning) else 2 if _WARNING.search(beginning) else 0


def reports_of(whole: str) -> list[list[str]]:
    """The lines that report errors and warnings, stripped; those that differ in numbers alone together, in order."""
    alike: dict[str, list[str]] = {}
    for line in whole.splitlines():
        if _rank(line) and (said := line.strip()):
            alike.setdefault(_NUMBER.sub("0", said), []).append(said)
    return list(alike.values())


def _odd_ones(whole: str) -> frozenset[int] | None:
    """Numbers of the lines that are like no other, where nearly all others are alike but for their numbers."""
    forms = _NUMBER.sub("#", whole).split("\n")
    counts = Counter(forms)
    alike = sum(count for count in counts.values() if count >= _ALIKE_LEAST)
    if alike < ALIKE_SHARE * len(forms):
        return None
    return frozenset(number for number, form in enumerate(forms) if counts[form] <= _ODD_MOST)
