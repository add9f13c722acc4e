"""What a command file's prompt is made of: text, `{{args}}`, `@{file}`, `!{command}`.

The pieces are read off the file itself, once. What they bring in, a file's text or a command's output, is put in their
place and never read again: it runs nothing and names nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from gemini_companion.engine.commands.arguments import shell_quoted

ARGUMENTS: Final = "{{args}}"
MAX_PIECES: Final = 100
"""Files and commands that one prompt may bring in."""

_OPENING: Final = re.compile(r"[@!]\{")
_BRACE: Final = re.compile(r"[{}]")


class Unbalanced(ValueError):
    """Braces of a `@{` or a `!{` that do not close. `line` is that of the prompt's text, from 1."""

    def __init__(self, opening: str, line: int) -> None:
        super().__init__(f"the {opening} in line {line} of the prompt is not closed; braces in it must be balanced")
        self.line = line


@dataclass(frozen=True, slots=True)
class Text:
    """What stands there as it is, but for `{{args}}`."""

    text: str


@dataclass(frozen=True, slots=True)
class FileOf:
    """`@{path}`."""

    path: str


@dataclass(frozen=True, slots=True)
class Shell:
    """`!{command}`."""

    command: str


Piece: TypeAlias = Text | FileOf | Shell


def pieces_of(prompt: str) -> tuple[Piece, ...]:
    """What a prompt is made of, in order. Raises `Unbalanced`, and `ValueError` for too many pieces."""
    pieces: list[Piece] = []
    at = 0
    while opening := _OPENING.search(prompt, at):
        if opening.start() > at:
            pieces.append(Text(prompt[at : opening.start()]))
        end = _closing(prompt, opening.end())
        if end is None:
            raise Unbalanced(opening[0], prompt.count("\n", 0, opening.start()) + 1)
        inside = prompt[opening.end() : end].strip()
        pieces.append(FileOf(inside) if opening[0] == "@{" else Shell(inside))
        at = end + 1
        if len(pieces) > 2 * MAX_PIECES:
            raise ValueError(f"the prompt brings in more than {MAX_PIECES} files and commands")
    if at < len(prompt):
        pieces.append(Text(prompt[at:]))
    return tuple(pieces)


def with_arguments(pieces: tuple[Piece, ...], arguments: str) -> tuple[Piece, ...]:
    """The pieces with what was typed in the place of `{{args}}`: as it is, but in commands as one word."""
    return tuple(_filled(piece, arguments) for piece in pieces)


def takes_arguments(prompt: str) -> bool:
    """Whether a prompt says where arguments go."""
    return ARGUMENTS in prompt


def _filled(piece: Piece, arguments: str) -> Piece:
    match piece:
        case Text():
            return Text(piece.text.replace(ARGUMENTS, arguments))
        case FileOf():
            return FileOf(piece.path.replace(ARGUMENTS, arguments).strip())
        case Shell():
            return Shell(piece.command.replace(ARGUMENTS, shell_quoted(arguments)))


def _closing(prompt: str, start: int) -> int | None:
    """Where the brace closes that was opened just before `start`."""
    depth = 1
    for brace in _BRACE.finditer(prompt, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return None
