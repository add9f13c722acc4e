"""Cycles of calls: the same few calls, made again and again in the same order."""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import Any, Final, NamedTuple, cast

import msgspec

LONGEST: Final = 5
"""Calls of the longest cycle that is looked for."""

REPEATS: Final = 5
"""Times that a cycle runs before it is a loop, where its results are the same each time."""

PATIENT_REPEATS: Final = 20
"""The same where the results differ: whoever waits for something asks again until the answer changes."""


_EXACT: Final = 2**53


class Cycle(NamedTuple):
    """A cycle that ran too often."""

    length: int
    """Calls in it."""
    repeats: int


class Cycles:
    """Counts how often the last few keys came before, in the same order. O(1) for each key and in memory."""

    def __init__(self, repeats: int) -> None:
        self._repeats = repeats
        self._last: deque[str] = deque(maxlen=LONGEST)
        self._matches = [0] * (LONGEST + 1)
        """By length: how many keys in a row equal the one that many places before."""

    def add(self, key: str) -> Cycle | None:
        """Take in the next key. The shortest cycle that has run often enough, if one has."""
        found: Cycle | None = None
        for length in range(1, min(LONGEST, len(self._last)) + 1):
            self._matches[length] = self._matches[length] + 1 if self._last[-length] == key else 0
            if found is None and self._matches[length] >= (self._repeats - 1) * length:
                found = Cycle(length, self._repeats)
        self._last.append(key)
        return found


class CallCycles:
    """The cycles of a turn's calls, by name and arguments, with and without their results.

    A call whose answer changes gets on, be it a look at a build that runs; so five repeats are a loop only if the
    results are the same, byte for byte. But an answer may differ in a time or a number alone, and a model may look for
    ever; so without the results there is a bound too, a higher one.
    """

    def __init__(self) -> None:
        self._same = Cycles(REPEATS)
        self._alike = Cycles(PATIENT_REPEATS)

    def add(self, call: str, result: str) -> Cycle | None:
        """Take in the next call: a digest of what it is, by name and arguments, and one of what came back."""
        same, alike = self._same.add(f"{call} {result}"), self._alike.add(call)
        return same or alike


def digest_of(*values: Any) -> str:
    """Equal for equal JSON values, whatever the order of keys and however whole numbers are spelt."""
    plain = [_plain(value) for value in values]
    return blake2b(msgspec.json.encode(plain, order="sorted"), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case bool():
            return value
        case float():
            return int(value) if value.is_integer() and abs(value) < _EXACT else value
        case int():
            return value if abs(value) < _EXACT else str(value)
        case str():
            return value.encode("utf-8", "replace").decode() if not value.isascii() else value
        case dict():
            return {_plain(str(key)): _plain(each) for key, each in cast("dict[Any, Any]", value).items()}
        case list() | tuple():
            return [_plain(each) for each in cast("list[Any]", value)]
        case _:
            return value
