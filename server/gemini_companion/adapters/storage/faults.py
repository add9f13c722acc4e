"""Faults of the file as `StorageFault`s with a hint what to do."""

from __future__ import annotations

import errno
from typing import Final

from gemini_companion.engine.errors import StorageFault

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

UNUSABLE: Final = (READONLY, IOERR, CORRUPT, CANTOPEN, NOTADB)
"""After these the connection is closed."""

_NOTHING_LOST = "Nothing was half-written; what was stored before is still there."


def result_code(fault: BaseException) -> int:
    """The primary result code of an `sqlite3.Error`, 0 for any other exception."""
    code: int = getattr(fault, "sqlite_errorcode", None) or 0
    return code & 0xFF


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
