"""The private folder of a worker's socket, and those that killed daemons left behind.

A file in it is locked as long as its daemon lives: the system lets go of the lock however that ends, and no number of a
process is mistaken for another's. Where there are no such locks, the worker outlives its daemon and removes the folder.
"""

from __future__ import annotations

import importlib
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from typing import Any, Final

SOCKET_NAME: Final = "model.sock"

_PREFIX: Final = "gemini-companion-"
_OWNER: Final = "owner"
_UNFINISHED: Final = "owner.new"
_OURS: Final = frozenset({SOCKET_NAME, _OWNER, _UNFINISHED})
"""All that may stand in such a folder. One with anything else in it is not ours to remove."""


class SocketFolder:
    """A folder that only this user may enter, and this process's own until it is removed."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix=_PREFIX)
        self._lock: int | None = None
        fcntl = _locks()
        if fcntl is None:
            return
        # Under its name it is locked from the first moment on.
        unfinished = os.path.join(self.path, _UNFINISHED)
        self._lock = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(unfinished, os.path.join(self.path, _OWNER))

    def remove(self) -> None:
        """Remove it, and let go of the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_abandoned() -> int:
    """Remove the folders of this user's daemons that are no more; returns how many. Never raises."""
    fcntl = _locks()
    if fcntl is None:
        return 0
    parent = tempfile.gettempdir()
    try:
        names = [entry.name for entry in os.scandir(parent) if entry.name.startswith(_PREFIX)]
    except OSError:
        return 0
    return sum(_removed(os.path.join(parent, name), fcntl) for name in names)


def _removed(path: str, fcntl: Any) -> bool:
    """Whether it was an abandoned folder, which is gone now."""
    try:
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or not _OURS.issuperset(os.listdir(path)):
            return False
        lock = os.open(os.path.join(path, _OWNER), os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # its daemon lives
    else:
        shutil.rmtree(path, ignore_errors=True)
        return True
    finally:
        os.close(lock)


def _locks() -> Any:
    """The module of locks that end with their process; `None` where there is none."""
    if os.name != "posix":
        return None
    return importlib.import_module("fcntl")
