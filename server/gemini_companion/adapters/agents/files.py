"""`AgentFiles` on this machine's disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from gemini_companion.adapters.memory.discovery import enabled_extensions
from gemini_companion.adapters.memory.opening import Unreadable, Withheld, read_below
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.agents.definition import AgentSource
from gemini_companion.sessions.agents.port import AgentFile

MAX_FILES: Final = 100
"""Files of one folder that are read."""
_MAX_NAMES: Final = 1_000
"""Names of one folder that are looked at."""

_Seen: TypeAlias = tuple[tuple[str, str, AgentSource, int, int, int], ...]
"""Of each file its root, its path, its source, and what changes with it."""


class DiskAgentFiles:
    """`home` is the user's home folder, where their own agents and their extensions are."""

    def __init__(self, home: Path) -> None:
        self._home = str(home)
        self._seen: _Seen | None = None
        self._files: tuple[AgentFile, ...] = ()

    async def read(self, folders: Sequence[str], *, trusted: bool) -> tuple[AgentFile, ...]:
        """All of them as they are now; see `AgentFiles`."""
        return await asyncio.to_thread(self._read, tuple(folders), trusted)

    def _read(self, folders: tuple[str, ...], trusted: bool) -> tuple[AgentFile, ...]:
        seen = tuple(self._look(folders, trusted))
        if seen != self._seen:
            self._seen = seen
            self._files = tuple(self._file(root, path, source) for root, path, source, *_ in seen)
        return self._files

    def _file(self, root: str, path: str, source: AgentSource) -> AgentFile:
        try:
            text, is_cut = read_below(root, path)
        except Unreadable as fault:
            if isinstance(fault, Withheld):
                self._seen = None  # the person may agree to it, which changes nothing of the file
            return AgentFile(path=path, source=source, fault=f"It cannot be read: {fault}.")
        if is_cut:
            return AgentFile(path=path, source=source, fault="It is too large.")
        return AgentFile(path=path, source=source, text=text)

    def _look(self, folders: tuple[str, ...], trusted: bool) -> Iterator[tuple[str, str, AgentSource, int, int, int]]:
        if trusted:
            for folder in folders:
                root = os.path.realpath(folder)
                yield from _in(root, os.path.join(root, ".gemini", "agents"), "workspace")
        own = followed(os.path.join(self._home, ".gemini", "agents"))
        yield from _in(own, own, "user")
        if trusted:
            for folder in folders[:1] or ("/",):
                for extension, _ in enabled_extensions(self._home, os.path.realpath(folder)):
                    yield from _in(extension, os.path.join(extension, "agents"), "extension")


def _in(root: str, folder: str, source: AgentSource) -> Iterator[tuple[str, str, AgentSource, int, int, int]]:
    """The Markdown files directly in a folder, but those that begin with an underscore."""
    try:
        with os.scandir(folder) as found:
            names = sorted(
                entry.name
                for entry in islice(found, _MAX_NAMES)
                if entry.name.endswith(".md") and not entry.name.startswith(("_", "."))
            )
    except OSError:
        return
    for name in names[:MAX_FILES]:
        path = os.path.join(folder, name)
        try:
            now = os.lstat(path)
        except OSError:
            continue
        yield root, path, source, now.st_mtime_ns, now.st_size, now.st_ino
