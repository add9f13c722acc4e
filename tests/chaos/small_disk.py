"""A file system that is small enough to be filled, where one may be mounted; elsewhere SQLite alone plays the full disk."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

SIZE: Final = 256 * 2**20
"""Bytes."""
_PIECE: Final = 2**20


@contextmanager
def mounted(folder: Path) -> Generator[SmallDisk | None]:
    """A file system of its own in `folder`, `None` if that is not permitted here."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)


class SmallDisk:
    """Can be filled to the last byte, and emptied again."""

    def __init__(self, folder: Path) -> None:
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Take all the space that is left."""
        with open(self._ballast, "ab", buffering=0) as file:
            for piece in (_PIECE, 4096):
                with suppress(OSError):
                    while True:
                        _take(file.fileno(), piece)

    def empty(self) -> None:
        """Give it back."""
        self._ballast.unlink(missing_ok=True)


def _take(descriptor: int, size: int) -> None:
    """Raises `OSError` where there is no room for so many bytes more."""
    at = os.fstat(descriptor).st_size
    if os.write(descriptor, bytes(size)) < size:
        os.ftruncate(descriptor, at)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
