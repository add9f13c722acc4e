"""Where the lines of a snapshot come from, as its author said: `… [c3, c12]` at the end of a line.

The numbers are those of the quoted entries. They are read off and taken out: the text that stands in the view has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.history.retention import LineSource

MOST_OF_A_LINE: Final = 16
"""Sources of one line that are kept."""

_GROUP: Final = r"\[c\d{1,7}(?:(?:, ?| )c?\d{1,7}){0,40}\]"
_END: Final = r"(?=[ \t]{0,20}(?:</\w{1,40}>[ \t]{0,20}){0,3}$)"
_CITED: Final = re.compile(
    rf"(?:(?<=\s)|^)(?P<groups>{_GROUP}(?:[ ,]{{0,2}}{_GROUP}){{0,8}})(?P<stop>[.;,]?){_END}",
    re.MULTILINE,
)
_LONGEST: Final = 8_000
"""Characters at the end of a line that citations may take."""
_NUMBER: Final = re.compile(r"\d+")
_BLANKS: Final = re.compile(r"\s+")
_LABEL: Final = re.compile(r"^\s{0,40}(?:[-*+•]|\d{1,3}[.)])?\s{0,40}(?:\[(?:DONE|TODO|IN PROGRESS|found)\]\s{0,4})?")


class Cited(NamedTuple):
    """A text without its citations, and by line, from 0, the numbers that it cited there, as they were given."""

    text: str
    numbers: dict[int, tuple[int, ...]]


def read_citations(text: str) -> Cited:
    """Take the citations out of a text. Linear in its length; a text without any comes back as it is."""
    if "[c" not in text:
        return Cited(text, {})
    lines = text.split("\n")
    numbers: dict[int, tuple[int, ...]] = {}
    for index, line in enumerate(lines):
        if "[c" in line and (match := _CITED.search(line, max(0, len(line) - _LONGEST))):
            numbers[index] = tuple(dict.fromkeys(map(int, _NUMBER.findall(match["groups"]))))
            lines[index] = line[: match.start()].removesuffix(" ") + match["stop"] + line[match.end() :]
    return Cited("\n".join(lines), numbers)


def without_citations(text: str) -> str:
    """The text alone."""
    return read_citations(text).text


def line_sources(numbers: Mapping[int, Sequence[int]], seqs: Sequence[int]) -> tuple[LineSource, ...]:
    """The sources of cited lines; a number without an entry is dropped. `seqs[n]` is entry `n`'s place in the log."""
    found: list[LineSource] = []
    for line, given in numbers.items():
        known = sorted({seqs[number] for number in given if 0 <= number < len(seqs)})
        if known:
            found.append(LineSource(line=line, seqs=tuple(known[:MOST_OF_A_LINE])))
    return tuple(found)


def carried_sources(
    snapshot: str, have: Iterable[LineSource], earlier: str | None, earlier_sources: Sequence[LineSource]
) -> tuple[LineSource, ...]:
    """The sources that a snapshot has, and for lines without one those of the same line of an earlier text."""
    sources = {source.line: source for source in have}
    if not earlier or not earlier_sources:
        return tuple(sources.values())
    known = {source.line: source.seqs for source in earlier_sources}
    by_text = {bare_line(line): known[index] for index, line in enumerate(earlier.split("\n")) if index in known}
    for index, line in enumerate(snapshot.split("\n")):
        if index not in sources and (seqs := by_text.get(bare_line(line))):
            sources[index] = LineSource(line=index, seqs=seqs)
    return tuple(sources[index] for index in sorted(sources))


def bare_line(line: str) -> str:
    """A line as it is compared: without bullet, mark, capitals and doubled blanks."""
    return _BLANKS.sub(" ", _LABEL.sub("", line, count=1)).strip().casefold()
