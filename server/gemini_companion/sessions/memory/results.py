"""What clients get of memory files."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.memory.tiers import Scope


class MemoryFileInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A memory file."""

    path: str
    """Absolute."""
    scope: Scope
    """`global` stands in the system instruction, `extension` and `project` in the first content of every request;
    `subdirectory` goes along with what touches its folder.
    """
    token_count: int
    """Estimated, with its imports."""
    imports: tuple[str, ...]
    """Absolute paths of what it imports."""
    problem: str | msgspec.UnsetType = msgspec.UNSET
    """What is wrong with it, for people; absent if nothing is."""


class MemoryList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The memory files that count now: the person's own, extensions', the project's, those below its folders."""

    files: tuple[MemoryFileInfo, ...]
    token_count: int
    """Estimated tokens of those that stand in every request."""


class MemoryAdded(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A fact was added to a memory file."""

    path: str
    """Absolute."""
    diff: str
    """Unified."""
