"""The texts that cost a regular expression most, made from the expression itself.

Backtracking is quadratic where many beginnings of a match are found and each is followed far before it fails: an opener
that is never closed, a run that does not end as it must. So every part of a pattern that repeats is repeated, after what
leads to it, with and without what makes the match fail, and so is every beginning of a match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as op  # pyright: ignore
from re import _parser as parser  # pyright: ignore
from typing import Any, Final, NamedTuple

_MANY: Final = 8
"""Repeats that are bounded below this are no repeats."""
_MAX_VARIANTS: Final = 3
_TAILS: Final = ("", "\0", "\n", " ", "~")
_PLAIN: Final = (
    " ",
    "\n",
    "\t",
    " \n",
    "\r\n",
    "a",
    "A",
    "é",
    "0",
    "a ",
    "a\n",
    "A1",
    "a.",
    "a/",
    "a-",
    "a_",
    "1.",
    "1,",
    "\\",
    "/",
    "-",
    ".",
    "<",
    ">",
    "(",
    "[",
    "{",
    '"',
    "'",
    "`",
    "*",
    "_",
    "$",
    "@",
    ":",
    "=",
    "#",
    "\\a",
    '\\"',
    "<a",
    "</",
    "/*",
    "//",
    "a=",
    "a:",
)
_LETTERS: Final = "a0A _-./\\:\n\"'`<([{@$#=*+"


class Attack(NamedTuple):
    """A text: `before`, then `pump` again and again, then `after`."""

    before: str
    pump: str
    after: str

    def text(self, size: int) -> str:
        """The text with about `size` characters."""
        return self.before + self.pump * (size // len(self.pump)) + self.after


def attacks(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[Attack]:
    """The attacks on a pattern, each once."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    found = [Attack("", pump, tail) for pump in _PLAIN for tail in ("", "\0")]
    found += _of(parser.parse(source, pattern.flags), "")
    return list(dict.fromkeys(attack for attack in found if attack.pump))


def _of(items: Any, before: str) -> Iterator[Attack]:
    """The attacks on a sequence of parsed items that comes after `before`."""
    for kind, value in items:
        samples = _samples([(kind, value)])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, body = value
            pumps = _samples(body)
            if most is op.MAXREPEAT or most >= _MANY:
                for pump in filter(None, pumps):
                    bounded = "" if most is op.MAXREPEAT else pump * int(most)
                    for tail in _TAILS:
                        yield Attack(before, pump, tail)
                        yield Attack("", before + pump + tail, "")
                        yield Attack("", before + pump * max(int(least), 1) + tail, "")
                        if bounded:
                            yield Attack("", before + bounded + tail, "")
                mixed = "".join(pumps)
                if mixed:
                    yield Attack(before, mixed, "\0")
                    yield Attack("", before + mixed, "\0")
            yield from _of(body, before)
        elif kind is op.SUBPATTERN:
            yield from _of(value[3], before)
        elif kind is op.ATOMIC_GROUP:
            yield from _of(value, before)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _of(branch, before)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _of(value[1], before)
        before += samples[0] if samples else ""
        for tail in _TAILS:
            yield Attack("", before + tail, "")


def _samples(items: Any) -> Sequence[str]:
    """Some short texts that match a sequence of items, or nearly do."""
    found = [""]
    for kind, value in items:
        more = _samples_of(kind, value)
        if more:
            found = [head + tail for tail in more for head in found][:_MAX_VARIANTS]
    return list(dict.fromkeys(found))


def _samples_of(kind: Any, value: Any) -> Sequence[str]:
    if kind is op.LITERAL:
        return [chr(value)]
    if kind is op.NOT_LITERAL:
        return [sign for sign in _LETTERS if ord(sign) != value][:_MAX_VARIANTS]
    if kind is op.ANY:
        return ["a", " ", "/"]
    if kind is op.IN:
        return _members(value)
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        least, _, body = value
        return [sample * max(1, int(least)) for sample in _samples(body)] if least else ["", *_samples(body)][:2]
    if kind is op.SUBPATTERN:
        return _samples(value[3])
    if kind is op.ATOMIC_GROUP:
        return _samples(value)
    if kind is op.BRANCH:
        return [sample for branch in value[1] for sample in _samples(branch)[:1]][: 2 * _MAX_VARIANTS]
    return []


def _members(items: Any) -> Sequence[str]:
    negated = items[0][0] is op.NEGATE
    return [sign for sign in _LETTERS + _listed(items) if _is_member(sign, items) is not negated][: _MAX_VARIANTS + 1]


def _listed(items: Any) -> str:
    return "".join(
        chr(value) if kind is op.LITERAL else chr(value[0]) if kind is op.RANGE else "" for kind, value in items
    )


def _is_member(sign: str, items: Any) -> bool:
    for kind, value in items:
        if kind is op.LITERAL and ord(sign) == value:
            return True
        if kind is op.RANGE and value[0] <= ord(sign) <= value[1]:
            return True
        if kind is op.CATEGORY and _in_category(sign, value):
            return True
    return False


def _in_category(sign: str, category: Any) -> bool:
    name = str(category).removeprefix("CATEGORY_")
    test = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w", "NOT_DIGIT": r"\D", "NOT_SPACE": r"\S", "NOT_WORD": r"\W"}
    return re.fullmatch(test[name], sign) is not None
