"""The shape of a plain shell line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Joint: TypeAlias = Literal["&&", "||", ";"]


class NotPlain(Exception):
    """A line has something that is not judged, named in `reason`; a person has to look at it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line; `start` and `end` are positions in it."""

    value: str
    """What the program gets, but for a tilde at the front."""
    start: int
    end: int
    is_bare: bool
    """There is no quote and no backslash in it."""
    has_tilde: bool = False
    """The shell puts a home folder in for the `~` at its front."""
    trouble: str = ""
    """What the shell makes of it and we do not know."""
    glob: str = ""
    """Where nothing is unknown but which names fit: the pattern, a backslash before all that is not its `*` and `?`."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection. `target` is a file, unless `is_inner`: then a descriptor, or a text in the line."""

    operator: str
    target: Word
    is_inner: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command."""

    assignments: tuple[Word, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands at once, the output of each the input of the next; two at least."""

    members: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """One after the other; a newline is a `;`."""

    first: Node
    rest: tuple[tuple[Joint, Node], ...]


@dataclass(frozen=True, slots=True)
class Subshell:
    """A chain in a shell of its own."""

    body: Node
    redirects: tuple[Redirect, ...]


Node: TypeAlias = Command | Pipeline | Chain | Subshell


@dataclass(frozen=True, slots=True)
class Script:
    """A whole line, as one of the two readers saw it."""

    body: Node | None
    """`None` where it does nothing."""
    spans: frozenset[tuple[int, int]]
    """Where words, redirection targets, ends of texts in the line and comments stand."""
    programs: frozenset[int]
    """Where the words stand that name what runs."""
