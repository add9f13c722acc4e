"""Looking for what was a secret before: whole, a half of a longer one with what is left of it, or a piece by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.ide_context.secret_patterns import RUN_CHARACTERS, SHORTEST_RUN
from gemini_companion.engine.ide_context.secrets import Secret
from gemini_companion.engine.ide_context.token_runs import sifted

_LONG_ENOUGH: Final = 8
"""Characters from which on a secret is looked for: fewer might be a word."""
_IN_A_RUN: Final = frozenset(RUN_CHARACTERS)
_STEP: Final = 4
"""Every so many characters of a secret one of its places is remembered; a piece is looked at from as many places."""
_PLACE: Final = SHORTEST_RUN - _STEP + 1
"""Characters of a place: wherever a piece of `SHORTEST_RUN` begins and ends, it holds a whole one."""
_LONGEST_LINE: Final = 4096


class Sought(NamedTuple):
    """A line of a secret, in two halves; the second one is empty where the first must not stand alone."""

    head: str
    tail: str
    head_in_run: bytes = b""
    """The first half, if it stands in a run of token characters and nowhere else. Few texts have such runs."""
    tail_in_run: bytes = b""


def sought_lines(secret: str) -> list[Sought]:
    """The lines of a secret that are one wherever they stand; of a key of several lines those that name it are not."""
    return [
        _sought(line)
        for line in secret.splitlines()
        if len(line) >= _LONG_ENOUGH and (line == secret or (len(line) >= 2 * _LONG_ENOUGH and " " not in line))
    ]


def found_again(text: str, lines: Sequence[Sought]) -> list[Secret]:
    """Wherever these stand in a text."""
    if not lines:
        return []
    in_runs = sifted(text).in_runs
    return [
        Secret(start, end, "credential")
        for line in lines
        if not line.head_in_run or (in_runs and (line.head_in_run in in_runs or line.tail_in_run in in_runs))
        for start, end in _places(text, line.head, line.tail)
    ]


def whole_again(text: str, known: Collection[str]) -> list[Secret]:
    """Wherever one of these stands in a text as a run of token characters of its own, or behind a sign `=`.

    That takes as long for ten thousand of them as for one.
    """
    if not known:
        return []
    sift = sifted(text)
    found: list[Secret] = []
    for start, end in sift.runs:
        run = text[start:end]
        for value in {run, run.rpartition("=")[2], run.rstrip("=.")}:
            if value in known:
                place = start + run.rfind(value)
                found.append(Secret(place, place + len(value), "credential"))
    return found


def places_in(secret: str) -> Iterator[str]:
    """What a piece of a secret is known by. Words are left out: a secret may hold some, and they are not its own."""
    for line in secret.splitlines():
        for start in range(0, min(len(line), _LONGEST_LINE) - _PLACE + 1, _STEP):
            place = line[start : start + _PLACE]
            if _IN_A_RUN.issuperset(place) and not place.isdigit() and any(sign.isdigit() for sign in place):
                yield place


def pieces_again(text: str, places: Collection[str]) -> list[Secret]:
    """Runs of token characters that begin or end with a piece of a secret, or have one behind a sign `=`.

    Where a text is cut, or taken apart at a sign, nothing tells any more what the piece was. `places` are those of
    `places_in`; it takes as long for many of them as for one.
    """
    if not places:
        return []
    found: list[Secret] = []
    for start, end in sifted(text).runs:
        run = text[start:end]
        value = run[run.rfind("=", 0, -3) + 1 :]  # not the signs that base64 ends with
        bare = run.rstrip("=.")
        if any(
            run[at : at + _PLACE] in places
            or value[at : at + _PLACE] in places
            or bare[len(bare) - _PLACE - at : len(bare) - at] in places
            for at in range(_STEP)
        ):
            found.append(Secret(start, end, "credential"))
    return found


def _sought(line: str) -> Sought:
    middle = len(line) // 2 if len(line) >= 2 * _LONG_ENOUGH else len(line)
    head, tail = line[:middle], line[middle:]
    if len(tail) < SHORTEST_RUN or len(head) < SHORTEST_RUN or not _IN_A_RUN.issuperset(line):
        return Sought(head, tail)
    return Sought(head, tail, head.encode(), tail.encode())


def _places(text: str, head: str, tail: str) -> Iterator[tuple[int, int]]:
    """Where a secret stands, or at least one half of it with what is left beside it."""
    start = text.find(head)
    while start >= 0:
        end, left = start + len(head), 0
        while left < len(tail) and text[end : end + 1] == tail[left]:
            end, left = end + 1, left + 1
        yield start, end
        start = text.find(head, end)
    if not tail:
        return
    found = text.find(tail)
    while found >= 0:
        start, end, left = found, found + len(tail), len(head)
        while left and start and text[start - 1] == head[left - 1]:
            start, left = start - 1, left - 1
        yield start, end
        found = text.find(tail, end)
