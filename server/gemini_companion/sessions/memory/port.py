"""The port of memory files: what is needed of the disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol, TypeAlias

import msgspec

from gemini_companion.engine.memory.assembling import Format
from gemini_companion.engine.memory.tiers import MemoryFile

Stamp: TypeAlias = tuple[int, int, int, int] | None
"""What changes with a file; `None` if there is none."""
SavedScope: TypeAlias = Literal["global", "project"]
"""Where a fact is kept: in the person's own file for every project, or in the one of this project."""


class MemoryWish(msgspec.Struct, frozen=True, kw_only=True):
    """Which memory files count."""

    folders: tuple[str, ...]
    """The workspace folders, absolute paths, the first one first."""
    trusted: bool
    """Without trust only the person's own files count."""
    names: tuple[str, ...]
    """File names, in the order in which the files of one folder stand."""
    form: Format
    max_dirs: int
    """Folders below the workspace folders that are searched."""
    markers: tuple[str, ...] = (".git",)
    """Base names that only the top folder of a project has; none: memory and imports keep to the workspace folder."""


class MemoryRead(msgspec.Struct, frozen=True, kw_only=True):
    """The memory files as they are."""

    files: tuple[MemoryFile, ...] = ()
    """In the order of `Tiers.files`."""
    stamps: Mapping[str, Stamp] = {}
    """Every file that decides what they are, there or not, as it was just before it was looked at."""


class MemoryEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that is to be added to a file."""

    path: str
    """Absolute, the real one."""
    root: str
    """The folder that it has to be in, absolute and real."""
    shown: str
    """For people."""
    before: str | None
    """`None` where there is no file yet."""
    after: str
    diff: str
    """Unified."""
    digest: str | None = None
    """SHA-256 of the file that the fact is added to."""
    data: bytes = b""
    """What is to be written."""


class MemoryFiles(Protocol):
    """The memory files on disk. Everything that blocks runs in threads."""

    async def read(self, wish: MemoryWish) -> MemoryRead:
        """Find and read all of them. What cannot be read has a `problem`."""
        ...

    async def stamps(self, paths: Iterable[str]) -> Mapping[str, Stamp]:
        """What these files are now."""
        ...

    async def around(self, paths: Iterable[str], wish: MemoryWish) -> tuple[MemoryFile, ...]:
        """Those of the folders from a workspace folder, itself left out, down to each of the paths."""
        ...

    def place(self, scope: SavedScope, wish: MemoryWish) -> str | None:
        """Where a fact of this scope is kept, an absolute path; `None` where no workspace folder is open."""
        ...

    async def edit(self, fact: str, scope: SavedScope, wish: MemoryWish) -> MemoryEdit:
        """What adding a fact, one line, would do. Raises `InvalidInput`, `StorageFault`."""
        ...

    async def write(self, edit: MemoryEdit) -> None:
        """Add it, at once and whole, if the file still is as it was. Raises `StorageFault`."""
        ...
