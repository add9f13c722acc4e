"""Names with `*` and `?`, matched in time that grows with the name alone."""

from __future__ import annotations

from collections.abc import Iterable


class NamePatterns:
    """Patterns of names, each for the whole name, in any case."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [pattern.lower().rstrip("/").removeprefix("**/") for pattern in patterns]

    def match(self, name: str) -> bool:
        """True if one of them stands for the name."""
        return any(_matches(pattern, name.lower()) for pattern in self._patterns)


def _matches(pattern: str, name: str) -> bool:
    """The last `*` takes what is left: going back to earlier ones can never help."""
    at = place = 0
    star, taken = -1, 0
    while place < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, taken = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[place]):
            at += 1
            place += 1
        elif star >= 0:
            taken += 1
            at, place = star + 1, taken
        else:
            return False
    return not pattern[at:].strip("*")
