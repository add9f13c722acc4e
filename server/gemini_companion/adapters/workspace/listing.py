"""Everything in the workspace folders that a person may name, read once and cached for some seconds."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from gemini_companion.adapters.workspace.ignore import IgnoreFiles, Scope
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.sessions.ports import Listed, Listing

MAX_SCANNED = 50_000
"""Entries of all folders that are read, hidden ones included."""
KEPT_SECONDS = 5.0
MAX_SECONDS = 10.0
"""A listing that takes longer, for a slow disk or hostile ignore files, ends where it is."""

_MAX_DEPTH = 64


class Listings:
    """Reads listings in a thread, one at a time; concurrent callers share one."""

    def __init__(self, ignore_files: IgnoreFiles, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._ignore_files = ignore_files
        self._monotonic = monotonic
        self._reading = asyncio.Lock()
        self._kept: tuple[tuple[str, ...], float, Listing] | None = None

    async def read(self, folders: Sequence[str]) -> Listing:
        """The listing of these folders, at most `KEPT_SECONDS` old."""
        wanted = tuple(folders)
        async with self._reading:
            kept = self._kept
            if kept is None or kept[0] != wanted or self._monotonic() - kept[1] > KEPT_SECONDS:
                listing = await asyncio.to_thread(self._list, wanted)
                kept = self._kept = (wanted, self._monotonic(), listing)
            return kept[2]

    def _list(self, folders: Sequence[str]) -> Listing:
        """List breadth first, so that near entries are in it even if there are too many. Links are left out."""
        roots: dict[str, str] = {}
        for folder in folders:
            if os.path.isabs(folder) and "\0" not in folder:
                roots.setdefault(os.path.realpath(folder), folder)
        pending = deque(
            (folder, "", self._ignore_files.scope(real), 0) for real, folder in roots.items() if os.path.isdir(real)
        )
        found: list[Listed] = []
        left = MAX_SCANNED
        until = self._monotonic() + MAX_SECONDS
        while pending:
            folder, prefix, scope, depth = pending.popleft()
            entries = _entries(scope.path, left + 1)
            for name, is_folder in _visible(scope, prefix, entries[:left]):
                if self._monotonic() > until:
                    return Listing(entries=tuple(found), truncated=True)
                found.append(Listed(folder=folder, path=prefix + name, is_folder=is_folder))
                if is_folder and depth < _MAX_DEPTH and os.path.join(scope.path, name) not in roots:
                    pending.append((folder, f"{prefix}{name}/", self._ignore_files.enter(scope, name), depth + 1))
            left -= len(entries)
            if left < 0 or (left == 0 and pending) or self._monotonic() > until:
                return Listing(entries=tuple(found), truncated=True)
        return Listing(entries=tuple(found))


def _entries(path: str, most: int) -> list[tuple[str, bool]]:
    """The files and folders in a directory, at most `most`, sorted, with True for a folder; links are left out.

    Empty if it cannot be read.
    """
    try:
        with os.scandir(path) as found:
            kinds = [
                (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
                for entry in islice(found, most)
            ]
    except OSError:
        return []
    return sorted((name, is_folder) for name, is_folder, is_file in kinds if is_folder or is_file)


def _visible(scope: Scope, prefix: str, entries: Sequence[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    for name, is_folder in entries:
        is_private = name == ".git" or is_secret_name(f"{name}/-" if is_folder else prefix + name)
        # A name with control characters, or that is no text, cannot be typed either.
        if not is_private and one_line(name) == name and not scope.hidden_by(name, is_folder=is_folder):
            yield name, is_folder
