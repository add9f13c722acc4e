"""Faults of the file as `StorageFault`s with a hint what to do."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from gemini_companion.engine.errors import CompanionError, StorageFault

if TYPE_CHECKING:
    import sqlite3

# Primary result codes of SQLite's C interface ("Result and Error Codes").
ERROR: Final = 1
BUSY: Final = 5
LOCKED: Final = 6
READONLY: Final = 8
IOERR: Final = 10
CORRUPT: Final = 11
FULL: Final = 13
CANTOPEN: Final = 14
PROTOCOL: Final = 15
NOTADB: Final = 26

HELD: Final = (BUSY, LOCKED, PROTOCOL)
"""Another process has a lock. `PROTOCOL` is, after ten seconds, that of one that hangs as it takes its own."""

BROKEN: Final = (CORRUPT, NOTADB)
"""The file is no database, or a damaged one."""

MALFORMED: Final = (*BROKEN, ERROR)
"""When a file is opened, with statements of ours alone: a table is not there, or not as it was made."""

_UNTOLD: Final = 0
"""An error that `sqlite3` raises by itself, for a value that it cannot read, has no code."""

UNUSABLE: Final = (READONLY, IOERR, CORRUPT, CANTOPEN, NOTADB)
"""After these the connection is closed."""

_NOTHING_LOST = "Nothing was half-written; what was stored before is still there."


def result_code(fault: BaseException) -> int:
    """The primary result code of an `sqlite3.Error`, 0 for any other exception.

    A `UnicodeDecodeError` counts as `CORRUPT`: texts of rows are decoded leniently, so it is what SQLite says of the
    file (`malformed database schema (…)`), with bytes of the damage in it, which `sqlite3` cannot decode.
    """
    if isinstance(fault, UnicodeDecodeError):
        return CORRUPT
    code: int = getattr(fault, "sqlite_errorcode", None) or 0
    return code & 0xFF


def is_damage(fault: BaseException) -> bool:
    """Whether a file could not be opened, by statements of ours alone, because of what it holds.

    Whatever it is: damage shows itself as any exception. What is known to be something else is not: another process
    that keeps the file, a disk that is full or fails, a file of a later version.
    """
    import sqlite3

    if isinstance(fault, sqlite3.Error):
        return result_code(fault) in (*MALFORMED, _UNTOLD)
    return isinstance(fault, Exception) and not isinstance(fault, CompanionError | OSError | MemoryError)


def damaged(what: str) -> sqlite3.DatabaseError:
    """The error of SQLite's for damage that it has not seen itself."""
    import sqlite3

    fault = sqlite3.DatabaseError(what)
    fault.sqlite_errorcode = CORRUPT
    return fault


def storage_fault(fault: BaseException, path: str) -> StorageFault:
    """The fault for an `sqlite3.Error` or an `OSError` raised for `path`."""
    code = result_code(fault)
    if code == FULL or getattr(fault, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StorageFault(
            f"There is no space left to write {path}.",
            hint=f"Free some space and try again. {_NOTHING_LOST}",
            retryable=True,
        )
    if code in HELD:
        return StorageFault(f"Another process is keeping {path} busy.", hint="Try again in a moment.", retryable=True)
    if code in BROKEN:
        return StorageFault(
            f"The session store {path} is damaged.",
            hint=(
                "Check the disk, or set COMPANION_DATA_DIR to a folder on another one. Damaged files are kept beside"
                " the new one."
            ),
        )
    return StorageFault(
        f"The session store cannot use {path}: {getattr(fault, 'strerror', None) or fault}.",
        hint=(
            "Check that the folder exists and may be written, or set COMPANION_DATA_DIR to another one."
            f" {_NOTHING_LOST}"
        ),
    )
