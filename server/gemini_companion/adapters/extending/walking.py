"""Going through a folder of command files or skills, whatever somebody put there."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from gemini_companion.adapters.memory.opening import MAX_BYTES, Unreadable, is_below, read_below
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.ide_context.secret_names import is_secret_name

MAX_ENTRIES: Final = 5_000
"""Names that one walk looks at, in all folders."""
MAX_DEPTH: Final = 8
MAX_FOLDERS: Final = 200
"""Folders that one walk goes into."""

Stamp = tuple[int, int, int, int]


class Root(NamedTuple):
    """A folder to go through."""

    path: str
    """Absolute."""
    bound: str
    """A real path: nothing outside of it is read; the path itself for the person's own folder."""
    is_own: bool = False
    """The person's own: links in it are followed, wherever they lead."""


class FoundFile(NamedTuple):
    """A file of a walk."""

    parts: tuple[str, ...]
    """The names that lead to it from the root."""
    path: str
    stamp: Stamp


@dataclass(slots=True)
class Walk:
    """What was found, and the folders that were gone through."""

    files: list[FoundFile] = field(default_factory=list[FoundFile])
    folders: list[str] = field(default_factory=list[str])
    is_cut: bool = False
    """There is more than was looked at."""
    _left: int = MAX_ENTRIES
    _seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def through(self, root: Root, ending: str, *, depth: int = MAX_DEPTH) -> None:
        """Find the files with this ending. Blocks. A folder that cannot be read has none; each is entered once."""
        if not root.is_own and not _is_plain(root):
            return
        self._enter(root, root.path, (), ending, depth)

    def _enter(self, root: Root, folder: str, parts: tuple[str, ...], ending: str, depth: int) -> None:
        try:
            status = os.stat(folder)
            with os.scandir(folder) as found:
                names = [entry.name for entry in islice(found, max(0, self._left) + 1) if entry.name[:1] != "."]
        except (OSError, ValueError):
            return
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return
        self._seen.add(identity)
        self.folders.append(folder)
        self._left -= len(names)
        if self._left < 0:
            self.is_cut = True
            names = names[: max(0, len(names) + self._left)]
        for name in sorted(names):
            path = os.path.join(folder, name)
            try:
                status = os.stat(path, follow_symlinks=root.is_own)
            except (OSError, ValueError):
                continue
            if stat.S_ISDIR(status.st_mode) and depth > 0 and len(self.folders) < MAX_FOLDERS:
                self._enter(root, path, (*parts, name), ending, depth - 1)
            elif stat.S_ISREG(status.st_mode) and name.endswith(ending):
                stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                self.files.append(FoundFile((*parts, name), path, stamp))


def read_whole(root: Root, path: str, size: int) -> str:
    """The text of a file below a root, with line feeds. Blocks. Raises `Unreadable`."""
    if size > MAX_BYTES:
        raise Unreadable(f"it is larger than {MAX_BYTES // 1024} KB")
    real = followed(path) if root.is_own else path
    if is_secret_name(real):
        raise Unreadable("it is a secret by its name")
    text, is_cut = read_below(os.path.dirname(real) if root.is_own else root.bound, real)
    if is_cut:
        raise Unreadable(f"it is larger than {MAX_BYTES // 1024} KB")
    return text


def _is_plain(root: Root) -> bool:
    """Whether a folder is where its path says, in its bound: no link on the way."""
    return is_below(root.path, root.bound) and followed(root.path) == root.path
