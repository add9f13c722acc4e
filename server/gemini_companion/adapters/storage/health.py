"""How a project's store is, read from beside: nothing is repaired, moved or waited for long."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from gemini_companion.adapters.storage import faults
from gemini_companion.adapters.storage.schema import FILE_NAME, TABLES

if TYPE_CHECKING:
    import sqlite3

MOST_FILES: Final = 10_000
"""Files that are counted in a folder."""

MOST_SECRETS: Final = 5_000
"""Of a store, the newest secrets that are read."""

_LONGEST_SEALED: Final = 70_000
"""Bytes of a closed secret that is read; an attached file with secrets is one, and is found by no line of a log."""

MOST_COPIED: Final = 1 << 30
"""Bytes of a store that are copied to be read where a lock on it does not go away."""

BUSY_SECONDS: Final = 2.0
"""How long a lock of another process is waited for."""

_STEPS: Final = 100_000
"""Steps of SQLite's machine between two looks at the clock."""


def store_health(directory: Path, seconds: float) -> dict[str, Any]:
    """Version, counts and SQLite's own check of the store in a project's directory, within about so many seconds.

    Whatever goes wrong stands in `fault`, as a text.
    """
    import sqlite3

    if not (directory / FILE_NAME).is_file():
        return {"fault": "there is no store"}
    found: dict[str, Any] = {"files": sizes(directory)}
    try:
        with _opened(directory) as (connection, is_copy):
            if is_copy:
                found["of"] = "a copy, since a process holds the store locked"
            deadline = time.monotonic() + seconds
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            (found["schema"],) = connection.execute("PRAGMA user_version").fetchone()
            (found["journal"],) = connection.execute("PRAGMA journal_mode").fetchone()
            found["counts"] = {
                table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES
            }
            checked = connection.execute("PRAGMA quick_check(5)").fetchall()
            found["check"] = [str(row[0])[:200] for row in checked]
    except (sqlite3.Error, OSError) as fault:
        found["fault"] = f"{type(fault).__name__}: {fault}"
    return found


def kept_secrets(directory: Path) -> dict[str, bytes]:
    """By id, the newest secrets of the store in a project's directory, still closed; none if it cannot be read."""
    import sqlite3

    try:
        with _opened(directory) as (connection, _):
            rows = connection.execute(
                "SELECT id, CAST(sealed AS BLOB) FROM vault WHERE length(sealed) <= ? ORDER BY rowid DESC LIMIT ?",
                (_LONGEST_SEALED, MOST_SECRETS),
            )
            return {str(secret_id): bytes(sealed) for secret_id, sealed in rows}
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return {}


@contextmanager
def _opened(directory: Path) -> Generator[tuple[sqlite3.Connection, bool]]:
    """The store for reading, and whether it is a copy of it.

    A process that hangs may hold a lock that every reader needs, for good: then its files are copied, to be read
    without it. Of a process that goes on to write, such a copy may be of two moments.
    """
    import sqlite3

    with closing(_connected(directory)) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError as fault:
            if faults.result_code(fault) not in faults.HELD:
                raise
        else:
            yield connection, False
            return
    with TemporaryDirectory(prefix="gemini-companion-") as copy:
        left = MOST_COPIED
        for name in (FILE_NAME, f"{FILE_NAME}-wal"):
            if (directory / name).exists():
                left -= _copied(directory / name, Path(copy, name), left)
        with closing(_connected(Path(copy))) as connection:
            yield connection, True


def _connected(directory: Path) -> sqlite3.Connection:
    import sqlite3

    return sqlite3.connect(f"file:{quote(str(directory / FILE_NAME))}?mode=ro", uri=True, timeout=BUSY_SECONDS)


def _copied(source: Path, target: Path, most: int) -> int:
    """Copy a file of at most so many bytes, and say how many it had; raises `OSError` if it has more."""
    with source.open("rb") as read, target.open("wb") as written:
        size = os.fstat(read.fileno()).st_size
        if size > most:
            raise OSError(f"a process holds the store locked, and it is too large to be copied ({size:,} bytes)")
        shutil.copyfileobj(read, written)
    return size


def sizes(directory: Path) -> dict[str, int]:
    """Bytes of each file of a directory, and of each folder in it with all that it holds."""
    found: dict[str, int] = {}
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                found[entry.name] = (
                    _size_of_folder(entry.path) if is_folder else entry.stat(follow_symlinks=False).st_size
                )
                if len(found) >= MOST_FILES:
                    break
    except OSError:
        pass
    return found


def _size_of_folder(path: str) -> int:
    total, files = 0, 0
    for folder, _, names in os.walk(path):
        for name in names:
            files += 1
            if files > MOST_FILES:
                return total
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total
