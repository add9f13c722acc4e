"""What is known of a prompt's context before it is sent, as clients get it."""

from __future__ import annotations

from typing import Literal

import msgspec

from gemini_companion.engine.history.extent import SelectionCut, TextExtent
from gemini_companion.engine.history.log import Withheld


class ContextFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An open file, and how much of it the model knows once the next prompt is sent."""

    uri: str
    """As the client named it."""
    name: str
    """Its base name."""
    extent: Literal["whole", "lines", "part", "path", "none"]
    """All of its text; whole lines of it; a part of which not every line is whole; only its path; nothing."""
    is_active: bool = False
    lines: tuple[int, int] | None = None
    """The first and last line, from 1, if it is not whole."""
    line_count: int = 0
    """How many lines it has, if it is not whole."""
    unsaved: bool = False
    selection_cut: SelectionCut | None = None
    """Which lines go along of a selection that is too long."""
    reason: str = ""
    """Why nothing or only the path goes along, in a few words; empty for a path if that is all that is meant to."""


class ContextPreview(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The IDE context as the next turn would send it. `text` is absent when nothing would be sent."""

    kind: Literal["full", "delta", "none"]
    files: tuple[str, ...]
    withheld: tuple[Withheld, ...]
    selection_chars: int
    text: str | None = None
    closed: tuple[str, ...] = ()
    """Those of `files` that the model is told are open no more."""
    texts: tuple[TextExtent, ...] = ()
    """How much the message gives of the files whose text it is about."""
    selection_cut: SelectionCut | None = None
    more_open_files: int = 0
    """Open files that are left out because only so many go along."""
    open_files: tuple[ContextFile, ...] = ()
    """Every open file of the client's report, the last focused first."""


class MentionCheck(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a prompt names with `@`, and what becomes of it."""

    written: str
    """As it stands in the prompt, with the `@`."""
    found: Literal["file", "folder", "resource", "nothing"]
    """What goes along. `resource` is an MCP server's, which alone knows whether it has it. `nothing` has a reason."""
    path: str = ""
    """Absolute, if there is one."""
    reason: str = ""
    """Why it does not go along, in a few words."""


class PromptCheck(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be known of a prompt before it is sent."""

    mentions: tuple[MentionCheck, ...]
    """In order, each once. A word after an `@` that is nothing here and looks like no path is not among them."""
