"""What is typed behind a slash command, and arguments with names in it."""

from __future__ import annotations

import re
import shlex
from typing import Final, NamedTuple

from gemini_companion.engine.commands.naming import NAME

_TYPED: Final = re.compile(rf"/({NAME})(?:\s++(.*+))?", re.DOTALL)
_WORD: Final = re.compile(
    r"""--([A-Za-z_][A-Za-z0-9_.-]*+)=("(?:[^"\\]|\\.)*+"|'[^']*+'|\S*+)|("(?:[^"\\]|\\.)*+")|(\S++)"""
)
_DOUBLED: Final = re.compile(rf"\s*+//({NAME})(?!\S)")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


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


def named_arguments(text: str) -> tuple[dict[str, str], list[str]]:
    """Arguments written `--name="value"`, by name, the last of a name counting; and the words that have none."""
    named: dict[str, str] = {}
    others: list[str] = []
    for match in _WORD.finditer(text):
        name, value, quoted, word = match.groups()
        if name is not None:
            named[name] = _bare(value)
        else:
            others.append(_bare(quoted if quoted is not None else word))
    return named, others


def shell_quoted(arguments: str) -> str:
    """Arguments as one word of a shell line; nothing where there are none."""
    return shlex.quote(arguments) if arguments else ""


def _bare(word: str) -> str:
    if len(word) >= 2 and word[0] == word[-1] == '"':
        return _ESCAPED.sub(r"\1", word[1:-1])
    return word[1:-1] if len(word) >= 2 and word[0] == word[-1] == "'" else word
