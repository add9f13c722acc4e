"""The files of the workspace with what tells that one has changed, without reading any."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from gemini_companion.adapters.workspace.ignore import IgnoreFiles
from gemini_companion.sessions.tools.changes_noticed import Stamp, Stamps

MOST_FILES: Final = 50_000
SECONDS: Final = 0.3
_MOST_NAMES: Final = 100_000
"""Of one folder."""


class StampScan:
    """Looks at the files below folders, those nearest first, until there are too many or it has taken too long.

    Ignore files and `.git` are left out, links are not followed. A `Scan`.
    """

    def __init__(
        self, *, most: int = MOST_FILES, seconds: float = SECONDS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._monotonic = monotonic
        self._ignore_files = IgnoreFiles()

    async def __call__(self, folders: Sequence[str]) -> Stamps:
        """The stamps of now."""
        return await asyncio.to_thread(self._scan, folders)

    def _scan(self, folders: Sequence[str]) -> Stamps:
        until = self._monotonic() + self._seconds
        roots = {os.path.realpath(folder) for folder in folders}
        pending = deque(self._ignore_files.scope(root) for root in sorted(roots))
        found: dict[str, Stamp] = {}
        while pending:
            scope = pending[0]
            if len(found) >= self._most or self._monotonic() > until:
                break
            pending.popleft()
            try:
                with os.scandir(scope.path) as entries:
                    for entry in islice(entries, _MOST_NAMES):
                        is_folder = entry.is_dir(follow_symlinks=False)
                        if entry.name == ".git" or scope.hidden_by(entry.name, is_folder=is_folder):
                            continue
                        if is_folder:
                            if entry.path not in roots:
                                pending.append(self._ignore_files.enter(scope, entry.name))
                            continue
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                            found[entry.path] = Stamp(status.st_size, status.st_mtime_ns, status.st_ino, status.st_mode)
            except OSError:
                continue  # it went meanwhile, or may not be read
        return Stamps(found, frozenset(scope.path for scope in pending))
