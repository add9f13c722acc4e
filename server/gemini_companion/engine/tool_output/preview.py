"""The first and the last lines of a text, for whoever can ask for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.tool_output.cutting import capped

LINE_SHOWN: Final = 120
"""Characters that are left of a line."""

PREVIEW_CHARACTERS: Final = 500
"""Characters of a preview, about."""

_HEAD_LINES: Final = 4
_TAIL_LINES: Final = 8


def preview(text: str) -> str:
    """The first and the last lines of a text, about `PREVIEW_CHARACTERS` characters in all."""
    if len(text) <= PREVIEW_CHARACTERS:
        return text
    first = text[: 8 * PREVIEW_CHARACTERS].split("\n")[:_HEAD_LINES]
    last = text[-8 * PREVIEW_CHARACTERS :].split("\n")[-_TAIL_LINES:]
    head = _within([capped(line, LINE_SHOWN) for line in first], PREVIEW_CHARACTERS // 3)
    tail = _within([capped(line, LINE_SHOWN) for line in last][::-1], PREVIEW_CHARACTERS - PREVIEW_CHARACTERS // 3)[
        ::-1
    ]
    return "\n".join((*head, "[…]", *tail))


def _within(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0 and kept:
            break
        kept.append(line)
    return kept
