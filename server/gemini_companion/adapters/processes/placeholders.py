"""The folder `.gemini` of a workspace that has none, for as long as commands run in a sandbox.

A command that makes it would set our own settings, and only what is there can be covered. So it is made, empty, with
permissions that nobody gives a folder: by them whoever finds one knows whose it is. Everyone who needs it holds a lock
on it, which goes with the process however that ends; whoever finds no other lock takes the folder away: the command's
reaper, which outlives a daemon that is killed; the daemon, where the reaper was killed; the next command in that
workspace, where both were.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

_NEVER_MADE: Final = (".gemini",)
_MODE: Final = 0o1500
_TRIES: Final = 20
"""Another daemon may take it away while this one reaches for it."""


class Placeholder:
    """One that is held: `descriptor` has the lock, and is -1 where the file system has none."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    def close(self) -> None:
        """Let go of the lock; a process that was given the descriptor still has it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def hold(roots: Sequence[str]) -> tuple[Placeholder, ...]:
    """Make what is missing, and take part in what others made; nothing for a folder that is somebody's own."""
    found: list[Placeholder] = []
    for path in (os.path.join(root, name) for root in roots for name in _NEVER_MADE):
        for _ in range(_TRIES):
            with suppress(OSError):
                os.mkdir(path, _MODE)
            if not _is_one(path):
                break
            descriptor = _locked(path)
            if descriptor is not None:
                found.append(Placeholder(path, descriptor))
                break
    return tuple(found)


def remove_unused(path: str) -> None:
    """Take one away that nobody holds, unless there is something in it."""
    import fcntl  # there is none on Windows, and no sandbox either

    if not _is_one(path):
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rmdir(path)
        finally:
            os.close(descriptor)


def _is_one(path: str) -> bool:
    with suppress(OSError):
        found = os.lstat(path)
        return stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == _MODE and found.st_uid == os.getuid()
    return False


def _locked(path: str) -> int | None:
    """A descriptor with a lock that others may have too; `None` where it has just gone."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # somebody is about to take it away
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        return -1
    if os.fstat(descriptor).st_nlink and _same(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _same(path: str, descriptor: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    return False
