"""Globs of paths, `src/**/*.{ts,tsx}`, matched in time that grows with the path alone.

Braces are written out; what is left is read as a line of an ignore file, whose automaton takes every name once.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from gemini_companion.adapters.workspace.patterns import Place, Rules, TooLarge
from gemini_companion.engine.escapes import read_back
from gemini_companion.tools.tool import ToolRefusal

_MOST: Final = 200
"""Patterns that the braces of one glob may make."""
_LONGEST: Final = 1_000
_BRACKET: Final = re.compile(r"\\.|\[")
_SPECIAL: Final = re.compile(r"[*?\[\\]")


class Glob:
    """A glob. `is_anchored`: without a slash it is a name at the top, else a name at any depth."""

    def __init__(self, pattern: str, *, is_anchored: bool, is_case_sensitive: bool) -> None:
        self._fold = str if is_case_sensitive else str.lower
        lines = [_line(each, is_anchored=is_anchored) for each in _readings(pattern)]
        try:
            self._rules = Rules("\n".join(map(self._fold, lines)))
        except TooLarge as much:
            raise ToolRefusal(f"The pattern is too large: {much}.") from None
        self._places: dict[str, Place] = {"": self._rules.top}

    def matches(self, path: str) -> bool:
        """True for a file of this path, which is relative, with slashes."""
        folder, _, name = self._fold(path).rpartition("/")
        return bool(self._rules.verdict(self._place(folder), name, is_folder=False))

    def _place(self, folder: str) -> Place:
        known = self._places.get(folder)
        if known is None:
            above, _, name = folder.rpartition("/")
            known = self._places[folder] = self._rules.enter(self._place(above), name)
        return known


def _line(pattern: str, *, is_anchored: bool) -> str:
    """A line of an ignore file that stands for the same paths."""
    pattern = pattern.replace("\n", "?").removeprefix("./").lstrip("/")
    while pattern.endswith(" "):  # git drops them
        pattern = pattern[:-1] + "[ ]"
    if pattern.endswith("/"):
        pattern += "**"
    return ("/" if is_anchored or "/" in pattern else "**/") + pattern


def _readings(pattern: str) -> list[str]:
    """What a pattern may mean: with `[…]` as a set of letters and, as names of routes have it, as it is written; and
    all of it as a name, also as that was shown.
    """
    patterns = _written_out(pattern)
    literal = [_SPECIAL.sub(r"\\\g<0>", each) for each in dict.fromkeys((pattern, read_back(pattern)))]
    return list(dict.fromkeys((*patterns, *(_BRACKET.sub(_as_written, each) for each in patterns), *literal)))


def _as_written(found: re.Match[str]) -> str:
    return "\\[" if found[0] == "[" else found[0]


def _written_out(pattern: str) -> list[str]:
    """The patterns without braces that a pattern with braces stands for."""
    if len(pattern) > _LONGEST:
        raise ToolRefusal(f"The pattern has over {_LONGEST:,} characters.")
    done: list[str] = []
    pending = [pattern]
    while pending:
        each = pending.pop()
        braces = _first_braces(each)
        if braces is None:
            done.append(each)
        else:
            before, choices, after = braces
            pending += [before + choice + after for choice in reversed(choices)]
        if len(done) + len(pending) > _MOST:
            raise ToolRefusal(f"The braces of the pattern make over {_MOST} patterns.")
    return done


def _first_braces(pattern: str) -> tuple[str, list[str], str] | None:
    """What stands before the first `{…,…}`, its choices, and what stands behind it."""
    start = -1
    depth = 0
    commas: list[int] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif sign == "{":
            if depth == 0:
                start, commas = at, []
            depth += 1
        elif sign == "," and depth == 1:
            commas.append(at)
        elif sign == "}" and depth:
            depth -= 1
            if depth == 0 and commas:
                edges = [start, *commas, at]
                choices = [pattern[first + 1 : last] for first, last in pairwise(edges)]
                return pattern[:start], choices, pattern[at + 1 :]
        at += 1
    return None
