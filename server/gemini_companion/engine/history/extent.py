"""How much of a text was sent: of an open file, of a selection."""

from __future__ import annotations

from typing import Literal

import msgspec


class TextExtent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How much of an open file's text an IDE context message gives."""

    path: str
    """Absolute."""
    extent: Literal["whole", "lines", "part", "path"]
    """All of it; whole lines of it; a part of which not every line is whole; only the path."""
    lines: tuple[int, int] | None = None
    """The first and last line that are given, from 1, if it is not whole."""
    line_count: int = 0
    """How many lines the file has, if it is not whole."""
    unsaved: bool = False
    """It is the text of the editor, which is not on disk."""
    as_changes: bool = False
    """The message has only the differences from what it gave earlier."""
    reason: str = ""
    """Why it is only the path."""


class SelectionCut(msgspec.Struct, frozen=True, kw_only=True):
    """A selection that was too long: first and last line, from 1, of what was sent and of what is selected."""

    sent: tuple[int, int]
    selected: tuple[int, int]
