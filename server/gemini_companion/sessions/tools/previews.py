"""The arguments of a call as events show them: whole where they are short, else cut to what a person looks at."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, cast

MOST_CHARACTERS: Final = 8_000
"""Characters of all texts of one call, keys included; a little more for what says that something is cut."""
MOST_OF_A_TEXT: Final = 2_000
MOST_ITEMS: Final = 50
"""Members of one list or object."""
_DEEPEST: Final = 6
_CUT: Final = "…"


def previewed(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with long texts and lists cut, of the same shape. Bounded, however large they are."""
    return cast("dict[str, Any]", _Preview().of(args, 0))


class _Preview:
    def __init__(self) -> None:
        self._left = MOST_CHARACTERS

    def of(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if not isinstance(value, Mapping | list):
            return value
        if depth == _DEEPEST:
            return _CUT
        if isinstance(value, list):
            items = cast("list[Any]", value)
            shown = [self.of(one, depth + 1) for one in islice(items, self._room(len(items)))]
            return shown if len(shown) == len(items) else [*shown, f"{_CUT} ({len(items):,} items)"]
        fields = cast("Mapping[str, Any]", value)
        return {self._text(key): self.of(fields[key], depth + 1) for key in islice(fields, self._room(len(fields)))}

    def _room(self, items: int) -> int:
        """How many of so many are shown; each takes some of what is left, whatever it is."""
        shown = min(items, MOST_ITEMS, max(0, self._left))
        self._left -= shown
        return shown

    def _text(self, text: str) -> str:
        most = max(0, min(MOST_OF_A_TEXT, self._left))
        self._left -= min(len(text), most)
        return text if len(text) <= most else f"{text[:most]}{_CUT} ({len(text):,} characters)"
