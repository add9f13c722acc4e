"""A slash command that was typed, as the log has it."""

from __future__ import annotations

from typing import Literal

import msgspec

from gemini_companion.engine.history.attached import Attachment, Withheld
from gemini_companion.engine.history.tool_entries import CallRecord


class CommandUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What stood behind a prompt that was a slash command."""

    name: str
    """As it was typed, without the slash."""
    scope: Literal["builtIn", "workspace", "user", "extension", "server"]
    """Whose command it was."""
    owner: str = ""
    """The extension or the server."""
    path: str = ""
    """The file that defined it, absolute."""
    parts: int = 0
    """Parts of the prompt's content that it stood for, right behind what was typed."""
    files: tuple[Attachment, ...] = ()
    """What it brought in of the workspace."""
    withheld: tuple[Withheld, ...] = ()
    """Files that it names and that were not brought in, and why."""
    calls: tuple[CallRecord, ...] = ()
    """The shell lines that it ran."""
