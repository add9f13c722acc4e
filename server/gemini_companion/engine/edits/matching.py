"""Where a text stands that is to be replaced: exactly, with another indentation, or in another form of Unicode, and
never by likeness.

Everything works on texts whose lines end with line feeds alone (`lines.LineFeedView`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import msgspec

MAX_SPANS: Final = 10_000
"""Places of one replacement."""
_MOST_NORMALISED: Final = 2_000_000
"""Characters of a file beyond which no other form of Unicode is looked for."""
_MOST_COMPARED: Final = 2_000_000
"""Lines of the file times lines searched, beyond which other indentations are not tried."""

How: TypeAlias = Literal["exact", "indentation", "form"]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A place, and what takes its place."""

    start: int
    end: int
    new: str


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """The places that are replaced, in order and apart from each other."""

    spans: tuple[Span, ...]
    how: How = "exact"


class NoMatch(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing is replaced."""

    reason: Literal["absent", "several", "too many", "blank", "same"]
    count: int = 0
    """Places found, where there are several."""
    at: tuple[int, ...] = ()
    """Where the first of them are."""


def find(text: str, old: str, new: str, *, several: bool = False) -> Match | NoMatch:
    """What replacing `old` by `new` comes to; `several`: everywhere, else there must be exactly one place."""
    if not old.strip():
        return NoMatch(reason="blank")
    if old == new:
        return NoMatch(reason="same")
    places = _apart(text, old) if several else _overlapping(text, old)
    if len(places) > MAX_SPANS:
        return NoMatch(reason="too many", count=len(places))
    if places:
        if len(places) > 1 and not several:
            return NoMatch(reason="several", count=len(places), at=tuple(places[:5]))
        return Match(spans=tuple(Span(start=at, end=at + len(old), new=new) for at in places))
    how: How = "indentation"
    found = _by_indentation(text, old, new) or _by_tabs(text, old, new)
    if not found:
        how, found = "form", list(_by_form(text, old, new))
    if not found:
        return NoMatch(reason="absent")
    if len(found) > 1 and not (several and how == "form"):
        return NoMatch(reason="several", count=len(found), at=tuple(span.start for span in found[:5]))
    return Match(spans=tuple(found), how=how)


def trimmed(text: str, span: Span) -> Span:
    """The span without what it has in common with its replacement at both ends: that is not touched at all."""
    old, new = text[span.start : span.end], span.new
    head = 0
    shorter = min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Span(start=span.start + head, end=span.end - tail, new=new[head : len(new) - tail])


def _apart(text: str, old: str) -> list[int]:
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) <= MAX_SPANS:
        places.append(at)
        at = text.find(old, at + len(old))
    return places


def _overlapping(text: str, old: str) -> list[int]:
    """All places, those that overlap too: `aa` stands twice in `aaa`."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) < 100:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _by_tabs(text: str, old: str, new: str) -> list[Span]:
    """Runs of whole lines that have a tab where `old` has always as many spaces, or the other way round."""
    found: list[Span] = []
    for blanks in ("  ", "    ", "        "):
        for one, other in ((blanks, "\t"), ("\t", blanks)):
            searched, replacement = _respelt(old, one, other), _respelt(new, one, other)
            if searched is not None and replacement is not None and searched != old:
                found += [span for span in _by_indentation(text, searched, replacement) if span not in found]
    return found


def _respelt(text: str, one: str, other: str) -> str | None:
    """The text indented with `other` in place of `one`; `None` if an indentation is not made of those alone."""
    lines: list[str] = []
    for line in text.split("\n"):
        bare = line.lstrip(" \t")
        indentation = line[: len(line) - len(bare)]
        depth, rest = divmod(len(indentation), len(one))
        if rest or indentation != one * depth:
            return None
        lines.append(other * depth + bare)
    return "\n".join(lines)


def _by_indentation(text: str, old: str, new: str) -> list[Span]:
    """Runs of whole lines that differ from `old` by one and the same indentation of all lines; at most a hundred."""
    wanted = old.split("\n")
    ends_line = wanted[-1] == "" and len(wanted) > 1
    if ends_line:
        wanted.pop()
    lines = text.split("\n")
    if len(lines) * len(wanted) > _MOST_COMPARED:
        return []
    common = _indentation(wanted)
    bare = [line[len(common) :] if line.strip() else "" for line in wanted]
    first = next(index for index, line in enumerate(bare) if line)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    spans: list[Span] = []
    for at in range(len(lines) - len(wanted) + 1):
        anchor = lines[at + first]
        if not anchor.endswith(bare[first]) or (ends_line and at + len(wanted) == len(lines)):
            continue
        indentation = anchor[: len(anchor) - len(bare[first])]
        if indentation.strip() or not _agree(lines[at : at + len(wanted)], bare, indentation):
            continue
        replacement = _shifted(new, common, indentation)
        if replacement is not None:
            end = begins[at + len(wanted)] - (0 if ends_line else 1)
            spans.append(Span(start=begins[at], end=end, new=replacement))
        if len(spans) == 100:
            break
    return spans


_CLUSTER: Final = re.compile("[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3][\u1160-\u11ff\ud7b0-\ud7fb]*|\r\n|.", re.DOTALL)
"""A syllable of Korean, or one sign; marks behind it belong to it."""


def _by_form(text: str, old: str, new: str) -> Iterator[Span]:
    """Places where the text has `old` in another form of Unicode: `é` as one sign, or as a letter and a mark.

    What takes its place has the form that stands there, where that is one.
    """
    wanted = unicodedata.normalize("NFC", old)
    if text.isascii() or wanted.isascii() or len(text) > _MOST_NORMALISED:
        return
    whole = unicodedata.normalize("NFC", text)
    places = _apart(whole, wanted)
    if not places or len(places) > MAX_SPANS:
        return
    ends = _ends_of_clusters(text)
    for place in places:
        start, end = ends.get(place), ends.get(place + len(wanted))
        if start is not None and end is not None:
            here = text[start:end]
            form = next((form for form in ("NFD", "NFC") if unicodedata.is_normalized(form, here)), None)  # type: ignore[arg-type]
            yield Span(start=start, end=end, new=new if form is None else unicodedata.normalize(form, new))  # type: ignore[arg-type]


def _ends_of_clusters(text: str) -> dict[int, int]:
    """Where each sign with its marks ends, by where it ends in the composed form of the text."""
    ends = {0: 0}
    place = start = 0
    starts = [found.start() for found in _CLUSTER.finditer(text) if not unicodedata.combining(found[0][0])]
    for end in (*starts[1:], len(text)):
        place += len(unicodedata.normalize("NFC", text[start:end]))
        ends[place] = start = end
    return ends


def _agree(lines: list[str], bare: list[str], indentation: str) -> bool:
    return all(
        line == indentation + wanted if wanted else not line.strip() for line, wanted in zip(lines, bare, strict=True)
    )


def _shifted(new: str, common: str, indentation: str) -> str | None:
    """The replacement with the indentation that the file has; `None` if a line of it stands further left."""
    lines: list[str] = []
    for line in new.split("\n"):
        if not line.strip():
            lines.append("")
        elif line.startswith(common):
            lines.append(indentation + line[len(common) :])
        else:
            return None
    return "\n".join(lines)


def _indentation(lines: list[str]) -> str:
    """The white space that all lines begin with, but for blank ones."""
    found: str | None = None
    for line in lines:
        if not line.strip():
            continue
        own = line[: len(line) - len(line.lstrip())]
        if found is None:
            found = own
        while not own.startswith(found):
            found = found[:-1]
    return found or ""
