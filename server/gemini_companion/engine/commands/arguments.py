"""What is typed behind a slash."""

from __future__ import annotations

import re
import shlex
from typing import Final, NamedTuple

from gemini_companion.engine.commands.naming import NAME

_TYPED: Final = re.compile(rf"/({NAME})(?:\s++(.*+))?", re.DOTALL)
_DOUBLED: Final = re.compile(rf"\s*+//({NAME})(?!\S)")


class Typed(NamedTuple):
    """A prompt that begins like a slash command."""

    name: str
    arguments: str
    """All that follows the name, blanks around it left out."""
    line: str
    """The whole of it."""


def typed(text: str) -> Typed | None:
    """A prompt read as a slash command; `None` for what cannot be one, such as a path or a comment."""
    line = text.strip()
    match = _TYPED.fullmatch(line)
    return Typed(match[1], (match[2] or "").strip(), line) if match else None


def escaped_name(text: str) -> str | None:
    """The name of the command that a prompt with two slashes does not mean; `None` if it does not begin so."""
    found = _DOUBLED.match(text)
    return found[1] if found else None


def shell_quoted(arguments: str) -> str:
    """Arguments as one word of a shell line; nothing where there are none."""
    return shlex.quote(arguments) if arguments else ""
