"""A folder that is held open: names in it are opened from it, so that no link on the way leads elsewhere.

Where the system has no `openat` (Windows), a folder is its path, and every use sees to it that this is still its real
path: before it, and after it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from gemini_companion.adapters.workspace.following import followed

CAN_HOLD: Final = {os.open, os.stat, os.mkdir, os.rename, os.unlink, os.link} <= os.supports_dir_fd
"""True where folders are held by descriptors."""

_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_NEW: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


_NOT_FOLLOWED: Final = {"follow_symlinks": False} if os.link in os.supports_follow_symlinks else {}


class Strayed(OSError):
    """A folder is not where it was when the path was looked at: a link, or moved."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ELOOP, "a link, or moved meanwhile", path)


class Folder:
    """An open folder. All names are single ones; none is followed if it is a link. Everything blocks."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    def close(self) -> None:
        """Let it go."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def status(self, name: str) -> os.stat_result | None:
        """What a name is, a link for itself; `None` if there is nothing."""
        try:
            found = os.stat(*self._at(name), follow_symlinks=False, **self._from())
        except (FileNotFoundError, NotADirectoryError):
            return None
        self.check()
        return found

    def open_file(self, name: str) -> int:
        """A descriptor to read a regular file; opening never waits, as it would for a pipe."""
        known = self.status(name)
        if known is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such file", name)
        if not stat.S_ISREG(known.st_mode):
            raise Strayed(name)
        descriptor = os.open(*self._at(name), _FILE, **self._from())
        try:
            _check_same(known, os.fstat(descriptor), name)
            self.check()
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def open_new(self, name: str, mode: int = 0o600) -> int:
        """A descriptor to write a file that did not exist."""
        descriptor = os.open(*self._at(name), _NEW, mode, **self._from())
        try:
            self.check()
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def enter(self, name: str, *, make: bool = False) -> Folder:
        """A folder in it, opened; if there is none, it is made first."""
        if make:
            with suppress(FileExistsError):
                os.mkdir(*self._at(name), 0o777, **self._from())
        if self.descriptor is None:
            inner = Folder(os.path.join(self.path, *self._at(name)), None)
            if not os.path.lexists(inner.path):
                raise FileNotFoundError(errno.ENOENT, "there is no such folder", name)
            inner.check()
            return inner
        nofollow = getattr(os, "O_NOFOLLOW", 0)
        return Folder(os.path.join(self.path, name), os.open(name, _FOLDER | nofollow, dir_fd=self.descriptor))

    def replace(self, name: str, by: str) -> None:
        """Give `by`, a file in it, this name, whatever had it."""
        self.check()
        if self.descriptor is None:
            os.replace(os.path.join(self.path, by), os.path.join(self.path, name))
        else:
            os.rename(by, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        self.check()

    def add(self, name: str, of: Folder, by: str) -> None:
        """Give `by`, a file in `of`, one more name here, which nothing has. Raises `FileExistsError` if one has."""
        if self.descriptor is None or of.descriptor is None:
            self.check()
            os.link(os.path.join(of.path, by), os.path.join(self.path, name))
            self.check()
        else:
            os.link(by, name, src_dir_fd=of.descriptor, dst_dir_fd=self.descriptor, **_NOT_FOLLOWED)

    def delete(self, name: str) -> None:
        """Delete a file."""
        os.unlink(*self._at(name), **self._from())

    def target(self, name: str) -> str:
        """What a link leads to, as it is written in it. Raises `Strayed` for what is no link."""
        try:
            return os.readlink(*self._at(name), **self._from())
        except OSError as fault:
            if fault.errno == errno.EINVAL:
                raise Strayed(name) from None
            raise

    def link(self, name: str, target: str) -> None:
        """Make a symbolic link of a name that nothing has."""
        os.symlink(target, *self._at(name), **self._from())

    def delete_folder(self, name: str) -> None:
        """Delete an empty folder."""
        os.rmdir(*self._at(name), **self._from())

    def set_mode(self, mode: int) -> None:
        """Give the folder itself permission bits."""
        self.check()
        os.chmod(self.path if self.descriptor is None else self.descriptor, mode & 0o7777)

    def scan(self) -> Iterator[os.DirEntry[str]]:
        """What is in it."""
        with os.scandir(self.path if self.descriptor is None else self.descriptor) as found:
            self.check()
            yield from found  # type: ignore[misc]

    def sync(self) -> None:
        """Make names durable, where the system can."""
        if self.descriptor is not None:
            with suppress(OSError):
                os.fsync(self.descriptor)

    def check(self) -> None:
        """Raises `Strayed` if a folder that is known by its path alone is not its own real path."""
        if self.descriptor is None and (followed(self.path) != self.path or not os.path.isdir(self.path)):
            raise Strayed(self.path)

    def is_still(self, status: os.stat_result) -> bool:
        """True if this is the folder of which `status` speaks."""
        mine = os.stat(self.path) if self.descriptor is None else os.fstat(self.descriptor)
        return os.path.samestat(mine, status)

    def _at(self, name: str) -> tuple[str]:
        if not name or name in (os.curdir, os.pardir) or os.sep in name or (os.altsep and os.altsep in name):
            raise Strayed(name)
        return (name if self.descriptor is not None else os.path.join(self.path, name),)

    def _from(self) -> dict[str, Any]:
        if self.descriptor is not None:
            return {"dir_fd": self.descriptor}
        self.check()
        return {}


def _check_same(known: os.stat_result, opened: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(opened.st_mode) or not os.path.samestat(known, opened):
        raise Strayed(name)


@contextmanager
def held(root: str, parts: Sequence[str], *, make: bool = False, by_descriptor: bool = CAN_HOLD) -> Generator[Folder]:
    """The folder at the end of `parts` below a root, opened name by name; missing ones are made if `make`."""
    nofollow = getattr(os, "O_NOFOLLOW", 0)
    folder = Folder(root, os.open(root, _FOLDER | nofollow) if by_descriptor else None)
    try:
        folder.check()
        for name in parts:
            try:
                inner = folder.enter(name)
            except FileNotFoundError:
                if not make:
                    raise
                inner = folder.enter(name, make=True)
            folder.close()
            folder = inner
        yield folder
    finally:
        folder.close()
