"""The bytes of a workspace's small files, packed in memory: a command does not say which of them it will change."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Callable
from typing import Final, NamedTuple

from gemini_companion.sessions.tools.changes_noticed import Held, Stamp, Stamps

_LARGEST: Final = 2**20
"""Bytes of a file that is held."""
_MOST_PACKED: Final = 24 * 2**20
"""Bytes in memory of all that are, of all workspaces."""
_LEVEL: Final = 1
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class _File(NamedTuple):
    stamp: Stamp
    digest: str
    packed: bytes


class HeldFiles:
    """What was read stays until its file is another, so that the next command costs only what has changed."""

    def __init__(self, *, seconds: float, monotonic: Callable[[], float]) -> None:
        self._seconds = seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._files: dict[str, _File] = {}
        self._size = 0

    def hold(self, stamps: Stamps) -> Held:
        """The bytes of files that have these stamps now, those nearest first. Blocks."""
        import zstandard

        until = self._monotonic() + self._seconds
        found: dict[str, _File] = {}
        with self._lock:
            packing = zstandard.ZstdCompressor(level=_LEVEL)
            for path, stamp in stamps.files.items():
                if not stat.S_ISREG(stamp.mode) or stamp.size > _LARGEST:
                    continue
                known = self._files.get(path)
                if known is None or known.stamp != stamp:
                    if self._size >= _MOST_PACKED or self._monotonic() > until:
                        continue  # what is known already is of use all the same
                    data = _read(path, stamp)
                    if data is None:
                        continue
                    known = _File(stamp, hashlib.sha256(data).hexdigest(), packing.compress(data))
                    self._keep(path, known)
                found[path] = known
            if self._size >= _MOST_PACKED:  # of other workspaces, or gone by now
                self._files, self._size = found, sum(len(one.packed) for one in found.values())

        def data_of(path: str) -> bytes | None:
            one = found.get(path)
            return None if one is None else zstandard.ZstdDecompressor().decompress(one.packed)

        return Held(data_of, {path: one.digest for path, one in found.items()})

    def _keep(self, path: str, one: _File) -> None:
        before = self._files.get(path)
        self._size += len(one.packed) - (len(before.packed) if before is not None else 0)
        self._files[path] = one


def stamp_of(status: os.stat_result, link: str | None = None) -> Stamp:
    """What tells a file from another."""
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino, status.st_mode, status.st_ctime_ns, link)


def _read(path: str, stamp: Stamp) -> bytes | None:
    """The bytes of the very file that was seen; `None` if another one, or none that can be read, is there now."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        if stamp_of(os.fstat(descriptor)) != stamp:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(_LARGEST + 1)
        return data if stamp_of(os.fstat(descriptor)) == stamp and len(data) == stamp.size else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
