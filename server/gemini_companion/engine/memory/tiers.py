"""Where the text of each memory file stands: in the system instruction, in the first content, or with what touches it.

The blocks have the lines that Gemini CLI gives them, by which session files of either program can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.escapes import one_line

Scope: TypeAlias = Literal["global", "extension", "project", "subdirectory"]
"""The person's own file, an extension's, one of the project down to its workspace folder, one below that."""

MAX_CHARACTERS: Final = 400_000
"""Characters of all memory that stands in every request; what is over it is left out, and told."""
LEFT_OUT: Final = f"left out: memory that stands in every request has over {MAX_CHARACTERS:,} characters"
MAX_NAMED: Final = 100
"""Files below the workspace folders that the first content names."""


class MemoryFile(msgspec.Struct, frozen=True, kw_only=True):
    """A memory file that was read."""

    path: str
    """Absolute."""
    scope: Scope
    text: str = ""
    """With its imports, without blanks around it; empty if there is nothing to be told of it."""
    imports: tuple[str, ...] = ()
    """Absolute paths."""
    problem: str = ""
    """What is wrong with it, for people; the rest of it counts all the same."""
    is_left_out: bool = False
    """It stands in no request."""


class Tiers(msgspec.Struct, frozen=True, kw_only=True):
    """All memory, at its places."""

    files: tuple[MemoryFile, ...] = ()
    """The person's own, extensions', the project's from the outermost folder inwards, then those below it."""
    system: str = ""
    """For the system instruction."""
    extension: str = ""
    """For the first content."""
    project: str = ""
    """The same."""
    below: tuple[str, ...] = ()
    """Paths of files whose text goes along with what touches their folder, for the first content."""

    @property
    def standing(self) -> tuple[str, str, str, tuple[str, ...]]:
        """What every request has of it. Equal for memory that makes no difference there."""
        return self.system, self.extension, self.project, self.below


def tiers(files: Iterable[MemoryFile], *, all_at_once: bool = False) -> Tiers:
    """Give each file its place.

    With `all_at_once` those below the workspace folders stand in the first content as well: for a model that calls no
    tools nothing else would bring them.
    """
    left = MAX_CHARACTERS
    placed: list[MemoryFile] = []
    for file in files:
        stands = file.scope != "subdirectory" or all_at_once
        if stands and len(file.text) > left:
            file = msgspec.structs.replace(file, is_left_out=True, problem=_joined(file.problem, LEFT_OUT))
        elif stands:
            left -= len(file.text)
        placed.append(file)

    def of(*scopes: Scope) -> list[MemoryFile]:
        return [file for file in placed if file.scope in scopes and file.text and not file.is_left_out]

    return Tiers(
        files=tuple(placed),
        system=framed(of("global")),
        extension=framed(of("extension")),
        project=framed(of("project", "subdirectory") if all_at_once else of("project")),
        below=() if all_at_once else tuple(file.path for file in of("subdirectory"))[:MAX_NAMED],
    )


def framed(files: Sequence[MemoryFile]) -> str:
    """The texts of files, each between two lines that name it, with an empty line between them."""
    return "\n\n".join(
        f"--- Context from: {one_line(file.path)} ---\n{file.text}\n--- End of Context from: {one_line(file.path)} ---"
        for file in files
    )


def _joined(one: str, other: str) -> str:
    return f"{one}; {other}" if one else other
