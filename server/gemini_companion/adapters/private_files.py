"""Files and directories that only their owner may read, whatever the umask is."""

from __future__ import annotations

import errno
import logging
import os
import stat
from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import BinaryIO, Final

from gemini_companion.engine.errors import StorageFault

_log = logging.getLogger(__name__)

_DIRECTORY_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_MAX_NAME: Final = 120
_MAX_SUFFIX: Final = 16
_MAX_TRIES: Final = 10_000
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_RESERVED: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{device}{number}" for device in ("com", "lpt") for number in range(10))]
)
"""Names that Windows reserves for devices, with any suffix."""


def safe_name(name: str) -> str:
    """`name` as one plain component of a path, at most 120 characters. Different names stay different."""
    plain = "".join(character if character in _PLAIN else "_" for character in name).lstrip(".")
    if (
        plain == name
        and plain
        and len(plain) <= _MAX_NAME
        and plain.split(".")[0].lower() not in _RESERVED
        and not plain.endswith(".")
    ):
        return plain
    import hashlib

    stem, suffix = os.path.splitext(plain.rstrip("."))
    if len(suffix) > _MAX_SUFFIX:
        stem, suffix = stem + suffix, ""
    mark = f"-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:12]}"
    return f"_{stem}"[: _MAX_NAME - len(mark) - len(suffix)] + mark + suffix


def make_private_directory(path: str) -> None:
    """Create the directory and its parents if missing; only their owner may enter them. Raises `OSError`."""
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        make_private_directory(parent)
    try:
        os.mkdir(path, _DIRECTORY_MODE)
        os.chmod(path, _DIRECTORY_MODE)  # the umask may have removed some of it
    except FileExistsError:
        if not os.path.isdir(path):
            raise NotADirectoryError(20, "there is a file where the folder should be", path) from None


def close_to_others(path: str) -> None:
    """Remove every right of group and others from a directory. Raises `OSError`."""
    if os.stat(path).st_mode & 0o077:
        os.chmod(path, _DIRECTORY_MODE)


def create_private_file(path: str) -> None:
    """Create an empty file if missing, readable by its owner only. Raises `OSError`.

    One that is there is not opened: closing it again would give up the locks that this process holds on it.
    """
    if os.path.exists(path):
        if hasattr(os, "fchmod"):  # as in `_restrict`
            os.chmod(path, _FILE_MODE)
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _FILE_MODE)
    try:
        _restrict(descriptor)
    finally:
        os.close(descriptor)


def write_private_file(directory: str, name: str, data: bytes) -> str:
    """Write a new file of that name, or of that name with a number if it is taken, and return its path.

    A file of the same content is taken as it is. The file is complete and on disk when this returns; if it raises
    `OSError` or `StorageFault`, there is no file.
    """
    stem, suffix = os.path.splitext(name)
    for number in count(1):
        path = os.path.join(directory, name if number == 1 else f"{stem}-{number}{suffix}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), _FILE_MODE)
        except FileExistsError:
            if _is_private_copy(path, data):
                return path
            if number < _MAX_TRIES:
                continue
            raise StorageFault(
                f"There are too many files named {name} in {directory}.", hint="Delete the session, or those files."
            ) from None
        try:
            _write_whole(descriptor, data)
        except BaseException:
            os.unlink(path)
            raise
        return path
    raise AssertionError


def replace_private_file(path: str, data: bytes) -> None:
    """Put these bytes in the place of a file, or where there is none, completely or not at all.

    Its folder exists. What was written outlives a power failure. Raises `OSError`.
    """
    unfinished = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    try:
        _write_whole(descriptor, data)
        os.replace(unfinished, path)
    except BaseException:
        remove_file(unfinished)
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def open_private_file(path: str) -> BinaryIO:
    """A plain file for reading. Raises `OSError` for any other, also for a link: opening a pipe may never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "no plain file", path)


def read_private_file(path: str) -> bytes | None:
    """The bytes of a plain file; `None` if it cannot be read or is a link."""
    try:
        with open_private_file(path) as file:
            return file.read()
    except OSError:
        return None


def move_private_file(source: str, directory: str, name: str) -> str:
    """Move a plain file there under that name, readable by its owner only, and return its path. Raises `OSError`."""
    import shutil

    descriptor = os.open(source, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(22, "it is no plain file", source)
        _restrict(descriptor)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return shutil.move(source, os.path.join(directory, name))


def link_private_files(source: str, directory: str) -> None:
    """Give a directory the plain files of another one, without their bytes being written again where that can be.

    They are never written in place, so what becomes of them in one directory does not concern the other. Raises
    `OSError`.
    """
    import shutil

    try:
        with os.scandir(source) as entries:
            files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return
    if files:
        make_private_directory(directory)
    for file in files:
        target = os.path.join(directory, file.name)
        try:
            os.link(file.path, target, follow_symlinks=False)
        except FileNotFoundError:
            continue  # it was deleted meanwhile
        except OSError:  # a file system without hard links
            shutil.copyfile(file.path, target, follow_symlinks=False)
            os.chmod(target, _FILE_MODE)


def make_room(directory: str, most_bytes: int, first: Sequence[str], spared: str) -> int:
    """Delete files until those that are left have at most so many bytes; returns how many were deleted.

    Those named `first` go first, in their order, then the oldest; `spared` stays. What cannot be deleted is logged and
    stays. Raises `OSError`.
    """
    with os.scandir(directory) as entries:
        files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
        stats = {entry.name: entry.stat(follow_symlinks=False) for entry in files}
    total = sum(status.st_size for status in stats.values())
    by_age = sorted(stats, key=lambda name: (stats[name].st_mtime_ns, name))
    removed = 0
    for name in dict.fromkeys((*first, *by_age)):
        if total <= most_bytes:
            break
        if name in stats and name != spared:
            remove_file(os.path.join(directory, name))
            total -= stats[name].st_size
            removed += 1
    return removed


def remove_file(path: str) -> None:
    """Delete a file, if it exists. What cannot be deleted is logged and stays."""
    _remove(os.unlink, path)


def remove_directory(path: str) -> None:
    """Delete a directory with all that is in it, if it exists. What cannot be deleted is logged and stays."""
    import shutil

    _remove(shutil.rmtree, path)


def remove_old_directories(path: str, kept: Collection[str], deadline: int) -> None:
    """Delete the directories in `path` whose name is not in `kept` and that were last changed before `deadline`.

    `deadline` is ms since 1970.
    """
    try:
        entries = list(os.scandir(path))
    except FileNotFoundError:
        return
    for entry in entries:
        if (
            entry.name not in kept
            and entry.is_dir(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_mtime * 1000 < deadline
        ):
            remove_directory(entry.path)


def _is_private_copy(path: str, data: bytes) -> bool:
    """Whether a plain file with exactly these bytes stands there; it is then closed to others."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data) or file.read(len(data) + 1) != data:
            return False
        _restrict(descriptor)
        os.fsync(descriptor)  # whoever wrote it may have ended before it was on disk
    return True


def _remove(remove: Callable[[str], object], path: str) -> None:
    try:
        remove(path)
    except FileNotFoundError:
        pass
    except OSError as fault:
        _log.warning("Private files could not be deleted: %s", fault)


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write these bytes to a new file, closed to others and on disk when this returns, and close the descriptor."""
    with open(descriptor, "wb") as file:
        _restrict(descriptor)
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _restrict(descriptor: int) -> None:
    if hasattr(os, "fchmod"):  # missing on Windows, where the user's data directory is private already
        os.fchmod(descriptor, _FILE_MODE)
