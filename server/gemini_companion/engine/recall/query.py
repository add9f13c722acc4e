"""A question as the index is asked it: its words, the pairs of them that stand together, and what it says of time and
speaker.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import msgspec

from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.recall.passages import Speaker
from gemini_companion.engine.recall.words import (
    IRREGULAR,
    STOP_WORDS,
    normal,
    split_identifiers,
    unspaced_runs,
    without_unspaced,
    words_in,
)

MAX_QUERY: Final = 2_000
"""Characters of a question that are read."""
MAX_WORDS: Final = 32
_MAX_PAIRED: Final = 16
"""Words at the beginning of a question whose neighbours are sought as phrases."""

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DATE: Final = lazy(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?(?P<month>{'|'.join(_MONTHS)})\b"
    r"(?: (?P<behind>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>\d{4})\b)?|\bin (?P<alone>\d{4})\b"
    r"|\b(?P<iso_year>\d{4})-(?P<iso_month>\d{2})-(?P<iso_day>\d{2})\b"
)
_DAY_SPAN: Final = (2, 16)
"""Days before and after a date that was named; a thing is spoken of after it happened."""
_MONTH_MORE: Final = 14
"""Days after the end of a month that was named."""

_SPEECH: Final = (
    "said|say|told|tell|asked|ask|wanted|want|wrote|write|mentioned|mention|decided|decide|suggested|suggest|proposed"
    "|propose|recommended|recommend|explained|explain|answered|answer|promised|promise|warned|warn|claimed|claim"
)
_NOBODY: Final[Mapping[str, Speaker]] = {}
_WHO: Final[Mapping[str, Speaker]] = {"i": "user", "you": "model"}
_SPEAKER: Final = lazy(rf"\b(?P<who>i|you)(?: had| have| already| once| just)? (?:{_SPEECH})\b")


class NamedDate(msgspec.Struct, frozen=True, kw_only=True):
    """A day, a month or a year that a question names; at least one of them."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def is_near(self, time: int) -> bool:
        """True for a time (ms since 1970) at which one would speak of it: about then, or soon after."""
        try:
            said = datetime.datetime.fromtimestamp(time / 1000, tz=datetime.UTC).date()
        except (ValueError, OverflowError, OSError):  # a file may name any time
            return False
        if self.year is not None:
            return self._covers(self.year, said)
        return self._covers(said.year, said) or self._covers(said.year - 1, said) or self._covers(said.year + 1, said)

    def _covers(self, year: int, said: datetime.date) -> bool:
        if self.month is None:
            return said.year == year
        try:
            first = datetime.date(year, self.month, self.day or 1)
            if self.day is not None:
                return -_DAY_SPAN[0] <= (said - first).days <= _DAY_SPAN[1]
            following = datetime.date(year + self.month // 12, self.month % 12 + 1, 1)
            return first <= said and (said - following).days < _MONTH_MORE
        except (ValueError, OverflowError):  # no such day
            return False


class RecallQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A question, taken apart. Words and phrases are plain: they are quoted where they are sought."""

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    """Neighbouring words."""
    asks_when: bool = False
    said_by: Speaker | None = None
    """Whose turns are meant, if the question says so."""
    date: NamedDate | None = None


def parse_query(question: str, *, names: Mapping[str, Speaker] = _NOBODY) -> RecallQuery:
    """Take a question apart; any text is one.

    `names` has the speakers' own names, in small letters, if they have any.
    """
    text = normal(well_formed(question[:MAX_QUERY])).replace("\0", " ")
    lowered = text.lower()
    words = query_words(text)
    named: set[Speaker] = {names[word] for word in words if word in names}
    words = [word for word in words if word not in names] or words
    content = [word for word in words_in(split_identifiers(text)) if word not in STOP_WORDS][:_MAX_PAIRED]
    speaker = None if named else _SPEAKER().search(lowered)
    if speaker is not None:
        named.add(_WHO[speaker["who"]])
    return RecallQuery(
        words=tuple(dict.fromkeys([*words, *(IRREGULAR[word] for word in words if word in IRREGULAR)]))[:MAX_WORDS],
        phrases=tuple(dict.fromkeys(f"{first} {second}" for first, second in pairwise(content))),
        asks_when=lowered.lstrip().startswith("when") or "how long" in lowered,
        said_by=next(iter(named)) if len(named) == 1 else None,
        date=_named_date(lowered),
    )


def query_words(text: str) -> list[str]:
    """At most `MAX_WORDS` words of a normal text, once each; stop words only if there are no others."""
    parted = split_identifiers(text)
    found: dict[str, None] = {}
    for match in unspaced_runs(parted):
        run = match[0]
        found.update(dict.fromkeys(run[index : index + 2] for index in range(max(1, len(run) - 1))))
    found.update(dict.fromkeys(words_in(without_unspaced(parted))))
    return ([word for word in found if word not in STOP_WORDS] or list(found))[:MAX_WORDS]


def _named_date(lowered: str) -> NamedDate | None:
    for match in _DATE().finditer(lowered):
        year = match["year"] or match["alone"] or match["iso_year"]
        day = match["before"] or match["behind"] or match["iso_day"]
        if year or day:  # a month alone may be a name or a verb
            month = _MONTHS.index(match["month"]) + 1 if match["month"] else match["iso_month"]
            return NamedDate(
                year=int(year) if year else None,
                month=int(month) if month else None,
                day=int(day) if day else None,
            )
    return None
