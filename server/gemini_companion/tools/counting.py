"""Counts in words."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "", *, more: bool = False) -> str:
    """`1 line`, `2 lines`, with `more` `2+ lines`; `many` where it is not `one` with an s."""
    return f"{number}{'+' if more else ''} {one if number == 1 and not more else many or one + 's'}"
