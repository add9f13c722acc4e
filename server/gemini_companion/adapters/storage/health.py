"""How a project's store is, read from beside: nothing is repaired, moved or waited for long."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from gemini_companion.adapters.storage import faults
from gemini_companion.adapters.storage.held_store import connection_to_copy
from gemini_companion.adapters.storage.schema import FILE_NAME, TABLES

if TYPE_CHECKING:
    import sqlite3

MOST_FILES: Final = 10_000
"""Files that are counted in a folder."""

MOST_SECRETS: Final = 5_000
"""Of a store, the newest secrets that are read."""

_LONGEST_SEALED: Final = 70_000
"""Bytes of a closed secret that is read; an attached file with secrets is one, and is found by no line of a log."""

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
        with _opened(directory, seconds) as (connection, is_copy):
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
    except (sqlite3.Error, OSError, UnicodeDecodeError) as fault:
        found["fault"] = f"{type(fault).__name__}: {fault}"
    return found


def kept_secrets(directory: Path, seconds: float) -> dict[str, bytes]:
    """By id, the newest secrets of the store in a project's directory, still closed.

    Raises `OSError` and what SQLite raises if it cannot be read.
    """
    if not (directory / FILE_NAME).is_file():
        return {}
    with _opened(directory, seconds) as (connection, _):
        rows = connection.execute(
            "SELECT id, CAST(sealed AS BLOB) FROM vault WHERE length(sealed) <= ? ORDER BY rowid DESC LIMIT ?",
            (_LONGEST_SEALED, MOST_SECRETS),
        )
        return {str(secret_id): bytes(sealed) for secret_id, sealed in rows if sealed is not None}


@contextmanager
def _opened(directory: Path, seconds: float) -> Generator[tuple[sqlite3.Connection, bool]]:
    """The store for reading, and whether it is a copy of it, since another process does not let go of a lock."""
    import sqlite3

    path = directory / FILE_NAME
    uri = f"file:{quote(str(path))}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError as fault:
            if faults.result_code(fault) not in faults.HELD:
                raise
        else:
            yield connection, False
            return
    with closing(connection_to_copy(path, time.monotonic() + seconds)) as connection:
        yield connection, True


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
