"""One pattern of an ignore file, cut into tokens the way git's wildmatch reads it."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias

_CLASSES: Final = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "blank": "  \t\t",
    "cntrl": "\0\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "  \t\r",
    "upper": "AZ",
    "xdigit": "09AFaf",
}
"""POSIX classes: the first and the last character of each of their ranges."""


class Wild(Enum):
    """What stands for more than one character."""

    STAR = auto()
    """`*`: any characters of one name."""
    FOLDERS = auto()
    """`**/`: any number of whole names, each with its slash."""


class Set(NamedTuple):
    """`[a-z]` or `?`: one character, but never a slash."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def has(self, sign: str) -> bool:
        """True if it stands for this character."""
        return any(first <= sign <= last for first, last in self.ranges) is not self.negated


Token: TypeAlias = str | Set | Wild
"""One character as it is, a set of them, or a wildcard."""

_ANY: Final = Set((), negated=True)


def tokens(pattern: str) -> list[Token] | None:
    """The tokens of a pattern without `!` and without slashes at its ends; `None` for one that git never matches."""
    found: list[Token] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            if at + 1 == len(pattern):
                return None
            found.append(pattern[at + 1])
            at += 2
        elif sign == "[":
            bracket = _bracket(pattern, at + 1)
            if bracket is None:
                return None
            found.append(bracket[0])
            at = bracket[1]
        elif sign == "*":
            end = at + 1
            while pattern.startswith("*", end):
                end += 1
            if end - at > 1 and found[-1:] in ([], ["/"], [Wild.FOLDERS]) and pattern[end : end + 1] in ("", "/"):
                if found[-1:] != [Wild.FOLDERS]:
                    found.append(Wild.FOLDERS)
                if end == len(pattern):  # everything in there, at any depth
                    found.append(Wild.STAR)
                end += 1
            else:
                found.append(Wild.STAR)
            at = end
        else:
            found.append(_ANY if sign == "?" else sign)
            at += 1
    return found


def _bracket(pattern: str, at: int) -> tuple[Set, int] | None:
    """The set that begins after its bracket at `at`, and where it ends; `None` if it has no end or an unknown class."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    ranges: list[tuple[str, str]] = []
    first = at
    previous = ""
    while at < len(pattern):
        sign = pattern[at]
        if sign == "]" and at > first:
            return Set(tuple(dict.fromkeys(ranges)), negated), at + 1
        if sign == "-" and previous and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1 + (pattern[at + 1] == "\\")
            ranges.append((previous, pattern[at : at + 1]))
            previous = ""
        elif (
            sign == "["
            and pattern.startswith(":", at + 1)
            and (end := pattern.find("]", at + 2)) > at + 2
            and (pattern[end - 1] == ":")
        ):
            bounds = _CLASSES.get(pattern[at + 2 : end - 1])
            if bounds is None:
                return None
            ranges += zip(bounds[::2], bounds[1::2], strict=True)
            previous, at = "", end
        else:
            at += sign == "\\"
            previous = pattern[at : at + 1]
            ranges.append((previous, previous))
        at += 1
    return None
