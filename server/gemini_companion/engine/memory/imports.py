"""The imports of a memory file: `@path` outside of code, as Gemini CLI finds them.

An `@` begins an import at the start of the text or behind a space, a tab or a line break, if a dot, a slash or an ASCII
letter follows. Its path goes on to the next such character. Code is what stands between two equal runs of backticks, or
in a block fenced by `~~~`; a run without its counterpart is a text like any other. All of it takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_IMPORTS: Final = 200
"""Imports of one file that are looked at; the rest is text."""
MAX_PATH: Final = 1_024
"""Characters of a path; a longer one is text."""

_IMPORT: Final = re.compile(r"(?<![^ \t\n\r])@(?=[./A-Za-z])([^ \t\n\r]++)")
_TICKS: Final = re.compile(r"`++")
_FENCE: Final = re.compile(r"^ {0,3}(~{3,}+)([^\n]*+)$", re.MULTILINE)
_BEHIND: Final = ".,;:!?)]}'\"*_>"
"""What may follow a path in a sentence."""
_FEWEST_OF_A_FENCE: Final = 3


class Import(NamedTuple):
    """An import as it is written: `text[start:end]` is the `@` and the path."""

    start: int
    end: int
    path: str


def imports_in(text: str) -> tuple[Import, ...]:
    """The imports of a text, in their order, at most `MAX_IMPORTS`."""
    if "@" not in text:
        return ()
    code = _code(text)
    starts = [start for start, _ in code]
    found: list[Import] = []
    for match in _IMPORT.finditer(text):
        at = bisect_right(starts, match.start()) - 1
        if at >= 0 and match.start() < code[at][1]:
            continue
        if len(match[1]) <= MAX_PATH:
            found.append(Import(match.start(), match.end(), match[1]))
        if len(found) == MAX_IMPORTS:
            break
    return tuple(found)


def readings(written: Import) -> tuple[Import, ...]:
    """What an import may mean: all of it, or without the punctuation behind it."""
    bare = written.path.rstrip(_BEHIND)
    if not bare or bare == written.path:
        return (written,)
    return written, Import(written.start, written.end - len(written.path) + len(bare), bare)


def may_be_a_mention(path: str) -> bool:
    """Whether an import of nothing that exists is rather a word: `@param`, `@team/docs`."""
    bare = path.rstrip(_BEHIND)
    return not bare.startswith((".", "/")) and "." not in bare.rpartition("/")[2] and "@" not in bare


def _code(text: str) -> list[tuple[int, int]]:
    """The regions of code, in order; none begins inside an earlier one."""
    fenced = _fenced(text)
    regions = sorted([*fenced, *_between_ticks(text, fenced)])
    apart: list[tuple[int, int]] = []
    for start, end in regions:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _fenced(text: str) -> list[tuple[int, int]]:
    """The blocks between lines of tildes."""
    if "~~~" not in text:
        return []
    found: list[tuple[int, int]] = []
    begun: tuple[int, int] | None = None
    for match in _FENCE.finditer(text):
        if begun is None:
            begun = (match.start(), len(match[1]))
        elif len(match[1]) >= begun[1] and not match[2].strip():
            found.append((begun[0], match.end()))
            begun = None
    return found


def _between_ticks(text: str, fenced: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What stands between runs of backticks: two of one length, or a fence and one at least as long."""
    if "`" not in text:
        return []
    starts = [start for start, _ in fenced]

    def is_fenced(at: int) -> bool:
        index = bisect_right(starts, at) - 1
        return index >= 0 and at < fenced[index][1]

    runs = [match.span() for match in _TICKS.finditer(text) if not is_fenced(match.start())]
    found: list[tuple[int, int]] = []
    unclosed: set[int] = set()
    """Lengths, a fence's as well as those of longer ones, that nothing closes from here on."""
    number = 0
    while number < len(runs):
        start, end = runs[number]
        length = end - start
        closing = None if _is_hopeless(length, unclosed) else _closing(runs, number, length)
        if closing is None:
            unclosed.add(length)
            number += 1
            continue
        found.append((start, runs[closing][1]))
        number = closing + 1
    return found


def _is_hopeless(length: int, unclosed: set[int]) -> bool:
    if length < _FEWEST_OF_A_FENCE:
        return length in unclosed
    return any(_FEWEST_OF_A_FENCE <= other <= length for other in unclosed)


def _closing(runs: Sequence[tuple[int, int]], number: int, length: int) -> int | None:
    for index in range(number + 1, len(runs)):
        other = runs[index][1] - runs[index][0]
        if other == length or (other > length >= _FEWEST_OF_A_FENCE):
            return index
    return None
