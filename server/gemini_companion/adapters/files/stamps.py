"""The files of the workspace with what tells that one has changed, without reading any."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from gemini_companion.adapters.files.holding import HeldFiles, stamp_of
from gemini_companion.adapters.workspace.ignore import IgnoreFiles
from gemini_companion.sessions.tools.changes_noticed import Held, Stamp, Stamps

MOST_FILES: Final = 50_000
SECONDS: Final = 0.3
_GIT_GOES_BY: Final = ("config", "config.worktree", "commondir", "hooks", "info/attributes", "modules")
_MOST_HOOKS: Final = 200
_MOST_NAMES: Final = 100_000
"""Of one folder."""
PLACEHOLDER: Final = 0o1700
"""Permissions of folders that stand there only while a command runs; nobody gives these to one."""


def is_placeholder(folder: os.stat_result) -> bool:
    """Whether a folder with this status is one."""
    return stat.S_IMODE(folder.st_mode) == PLACEHOLDER and folder.st_uid == os.getuid()


class StampScan:
    """Looks at the files below folders, those nearest first, until there are too many or it has taken too long.

    Ignore files, `.git` and what stands there only while a command runs are left out, links are not followed. A `Scan`.
    """

    def __init__(
        self, *, most: int = MOST_FILES, seconds: float = SECONDS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._monotonic = monotonic
        self._ignore_files = IgnoreFiles()
        self._held = HeldFiles(seconds=seconds, monotonic=monotonic)

    async def __call__(self, folders: Sequence[str]) -> Stamps:
        """The stamps of now."""
        return await asyncio.to_thread(self._scan, folders)

    async def hold(self, stamps: Stamps) -> Held:
        """The bytes of small files that still have these stamps."""
        return await asyncio.to_thread(self._held.hold, stamps)

    def _scan(self, folders: Sequence[str]) -> Stamps:
        until, at_ns = self._monotonic() + self._seconds, time.time_ns()
        roots = {os.path.realpath(folder) for folder in folders}
        pending = deque(self._ignore_files.scope(root) for root in sorted(roots))
        found: dict[str, Stamp] = {}
        bits: dict[str, int] = {}
        of_git: dict[str, Stamp] = {}
        while pending:
            scope = pending[0]
            if len(found) >= self._most or self._monotonic() > until:
                break
            pending.popleft()
            try:
                with os.scandir(scope.path) as entries:
                    for entry in islice(entries, _MOST_NAMES):
                        is_folder = entry.is_dir(follow_symlinks=False)
                        if entry.name == ".git":
                            of_git.update(_of_git(entry))
                            continue
                        if scope.hidden_by(entry.name, is_folder=is_folder):
                            continue
                        if not _can_be_noted(entry.name) or (is_folder and entry.path in roots):
                            continue
                        with suppress(OSError):  # it went meanwhile
                            status = entry.stat(follow_symlinks=False)
                            if is_folder and is_placeholder(status):
                                continue
                            if is_folder:
                                bits[entry.path] = stat.S_IMODE(status.st_mode)
                                pending.append(self._ignore_files.enter(scope, entry.name))
                            elif stat.S_ISREG(status.st_mode):
                                found[entry.path] = stamp_of(status)
                            elif stat.S_ISLNK(status.st_mode) and _can_be_noted(target := os.readlink(entry.path)):
                                found[entry.path] = stamp_of(status, target)
            except OSError:
                continue  # it went meanwhile, or may not be read
        return Stamps(found, frozenset(scope.path for scope in pending), bits, at_ns, of_git)


def _of_git(entry: os.DirEntry[str]) -> dict[str, Stamp]:
    """A `.git`, and what in it git goes by. Of folders only that they are the same ones: their times change daily."""
    found: dict[str, Stamp] = {}
    with suppress(OSError):
        status = entry.stat(follow_symlinks=False)
        if is_placeholder(status):
            return {}
        found[entry.path] = _kind_of(status) if stat.S_ISDIR(status.st_mode) else stamp_of(status)
        names = [os.path.join(entry.path, name) for name in _GIT_GOES_BY]
        with suppress(OSError), os.scandir(os.path.join(entry.path, "hooks")) as hooks:
            names += [hook.path for hook in islice(hooks, _MOST_HOOKS) if not hook.name.endswith(".sample")]
        for name in names:
            with suppress(OSError):
                status = os.lstat(name)
                found[name] = _kind_of(status) if stat.S_ISDIR(status.st_mode) else stamp_of(status)
    return found


def _kind_of(status: os.stat_result) -> Stamp:
    return Stamp(0, 0, status.st_ino, stat.S_IFMT(status.st_mode))


def _can_be_noted(name: str) -> bool:
    """A log has no place for names that are no text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
