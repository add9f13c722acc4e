"""A store's file and its log of changes, read without SQLite.

A process that hangs may hold a lock that every reader needs: file and log are put together in memory. Nothing is
written for it, so nothing is left anywhere. And SQLite takes a damaged log for one that ends there, without a word.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from array import array
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

if TYPE_CHECKING:
    import sqlite3

MOST_BYTES: Final = 256 * 1024 * 1024
"""Bytes of a store that are read into memory."""

_PIECE: Final = 1024 * 1024

# "Database File Format" of SQLite's documentation, chapters 1.3 and 4.
_DATABASE_HEADER: Final = 100
_VERSIONS: Final = slice(18, 20)
"""Of the format for writing and for reading: 2 with a log of changes beside the file, 1 without."""
_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_SALTS_OF_LOG: Final = slice(16, 24)
_SALTS_OF_FRAME: Final = slice(8, 16)
_SUM_OF_LOG: Final = slice(24, 32)
_SUM_OF_FRAME: Final = slice(16, 24)
_TOO_LONG: Final = "a process holds the store locked, and reading it without it takes too long"
_SUMMED_OF_FRAME: Final = 8
"""Bytes of a frame's header that its sum is of, with its page behind them."""


def connection_to_copy(path: Path, deadline: float) -> sqlite3.Connection:
    """A database in memory that has what a file and the log beside it have, until so many seconds of `monotonic`.

    Raises `OSError` where they are no plain files, too large, or written to meanwhile, and what SQLite raises.
    """
    import sqlite3

    log = path.with_name(f"{path.name}-wal")
    for _ in range(2):
        before = _state_of(path), _state_of(log)
        data = _read(path, deadline)
        changes = _read(log, deadline, MOST_BYTES - len(data)) if before[1] is not None else b""
        if before == (_state_of(path), _state_of(log)):
            break
    else:
        raise OSError("a process holds the store locked, and goes on to write to it")
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(with_changes(data, changes, deadline))
    except BaseException:
        connection.close()
        raise
    return connection


def with_changes(data: bytes, log: bytes, deadline: float) -> bytes:
    """A database's file with the changes that its log has, as far as they were finished, as a file without a log.

    Raises `OSError` past the deadline: the sums of a long log take a second for ten megabytes.
    """
    made = bytearray(data)
    size = int.from_bytes(log[8:12], "big")
    if len(log) > _LOG_HEADER and size and size % 8 == 0:
        pages: dict[int, memoryview] = {}
        view = memoryview(log)
        order: Literal["little", "big"] = "big" if log[3] & 1 else "little"
        sums = _numbers(view[_SUM_OF_LOG])
        for start in range(_LOG_HEADER, len(log) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
            if time.monotonic() > deadline:
                raise OSError(_TOO_LONG)
            header = view[start : start + _FRAME_HEADER]
            if header[_SALTS_OF_FRAME] != view[_SALTS_OF_LOG]:
                break  # from here on they are of an earlier time
            page = view[start + _FRAME_HEADER : start + _FRAME_HEADER + size]
            sums = _sums(page, _sums(header[:_SUMMED_OF_FRAME], sums, order), order)
            if sums != _numbers(header[_SUM_OF_FRAME]):
                break  # whoever holds it was halted between a header and its page
            pages[int.from_bytes(header[:4], "big")] = page
            if pages_then := int.from_bytes(
                header[4:8], "big"
            ):  # the end of a transaction: what the file has from then on
                made.extend(bytes(max(0, pages_then * size - len(made))))
                for number, page in pages.items():
                    made[(number - 1) * size : number * size] = page
                del made[pages_then * size :]
                pages.clear()
    if len(made) >= _DATABASE_HEADER:
        made[_VERSIONS] = b"\1\1"
    return bytes(made)


def lost_behind(database: str, counted: int) -> bool:
    """Whether the log has a finished transaction behind so many frames that SQLite counts, and damage before its end.

    One that is whole and not counted was written by a process that is at it, or was killed at that moment. False
    where there is no log, or none that can be read. Only the log is opened: a process that closes the file or its
    `-shm` gives up the locks that SQLite holds on it.
    """
    try:
        with _plain(Path(f"{database}-wal")) as log:
            header = log.read(_LOG_HEADER)
            size = int.from_bytes(header[8:12], "big")
            if size == 0 or size % 8:
                return False
            order: Literal["little", "big"] = "big" if header[3] & 1 else "little"
            sums = _numbers(memoryview(header)[_SUM_OF_LOG])
            is_damaged = False
            for number in count(max(1, counted)):
                log.seek(_LOG_HEADER + (number - 1) * (_FRAME_HEADER + size))
                data = log.read(_FRAME_HEADER + size)
                frame = memoryview(data)
                if len(data) < _FRAME_HEADER + size or data[_SALTS_OF_FRAME] != header[_SALTS_OF_LOG]:
                    return False  # from here on they are of an earlier time
                if number == counted:
                    sums = _numbers(frame[_SUM_OF_FRAME])
                    continue
                if not is_damaged:
                    sums = _sums(frame[_FRAME_HEADER:], _sums(frame[:_SUMMED_OF_FRAME], sums, order), order)
                    is_damaged = sums != _numbers(frame[_SUM_OF_FRAME])
                if is_damaged and data[4:8] != bytes(4):
                    return True
    except OSError:
        pass
    return False


def _sums(data: memoryview, before: tuple[int, int], order: Literal["little", "big"]) -> tuple[int, int]:
    """SQLite's sums of data behind other data, chapter 4.2."""
    words = array("I", bytes(data))
    if order != sys.byteorder:
        words.byteswap()
    first, second = before
    pairs = iter(words)
    for one, other in zip(pairs, pairs, strict=True):
        first = (first + one + second) & 0xFFFF_FFFF
        second = (second + other + first) & 0xFFFF_FFFF
    return first, second


def _numbers(data: memoryview) -> tuple[int, int]:
    return int.from_bytes(data[:4], "big"), int.from_bytes(data[4:], "big")


def _state_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _plain(path: Path) -> BinaryIO:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise OSError(f"{path.name} is no plain file")


def _read(path: Path, deadline: float, most: int = MOST_BYTES) -> bytes:
    with _plain(path) as file:
        read = bytearray()
        while piece := file.read(_PIECE):
            read += piece
            if len(read) > most:
                raise OSError("a process holds the store locked, and it is too large to be read without it")
            if time.monotonic() > deadline:
                raise OSError(_TOO_LONG)
    return bytes(read)
