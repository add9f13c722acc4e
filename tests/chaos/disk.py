"""A disk that misbehaves, beneath the real store: in the daemon's own process, between it and SQLite or the file system.

Each write is a numbered step: a statement that changes something, a commit, a file made, written, renamed or removed. The
process can be told to kill itself at one of them.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Final, Literal

Mood = Literal["well", "full", "read-only", "slow", "broken"]
Moment = Literal["before", "during", "after"]

_WRITES: Final = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "ALTER", "DROP", "COMMIT"})
_NO_LIMIT: Final = 1_073_741_823
_ROOM: Final = 2
"""Pages that a full disk has left."""
_FAILURES: Final = 0.3
"""Share of the writes that fail on a broken disk."""
_LONGEST_FLASH: Final = 0.002
"""Seconds into a step within which a death `during` it comes."""


class Disk:
    """The state of the disk, and the count of write steps. `folder` is what it holds; nothing outside is touched."""

    def __init__(self, folder: str, chance: random.Random) -> None:
        self.folder = os.path.join(os.path.abspath(folder), "")
        self.mood: Mood = "well"
        self.delay = 0.0
        """Seconds that a slow disk takes for a commit or a file."""
        self.steps = 0
        self.on_disk: list[int] = []
        """The steps that reach the disk: commits and files. The others happen in SQLite's memory."""
        self._death: tuple[int, Moment] | None = None
        self._chance = chance
        self._pause = threading.Event()

    def die_at(self, step: int, moment: Moment) -> None:
        """Kill this process at the step of that number, counted from now on, from 1."""
        self._death = (self.steps + step, moment)

    def change(self, mood: Mood, delay: float = 0.0) -> None:
        """Behave so from now on."""
        self.mood, self.delay = mood, delay

    def write(self, do: Callable[[], Any], *, reaches_disk: bool = True) -> Any:
        """Do one write step."""
        self.steps += 1
        number = self.steps
        if reaches_disk:
            self.on_disk.append(number)
        moment = self._death[1] if self._death is not None and number >= self._death[0] else None
        if moment == "before":
            _die()
        if moment == "during":
            threading.Timer(self._chance.uniform(0, _LONGEST_FLASH), _die).start()
        if self.mood == "slow" and reaches_disk:
            self._pause.wait(self.delay)
        result = do()
        if moment is not None:
            if moment == "during":
                self._pause.wait(_LONGEST_FLASH)
            _die()
        return result

    def refuse_file(self, path: object) -> None:
        """Raise `OSError` as a full or read-only disk does for a file that would be written."""
        if not isinstance(path, str) or not path.startswith(self.folder):
            return
        if self.mood == "read-only":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        if self.mood == "full" and not os.path.exists(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    def refuse_statement(self) -> None:
        """Raise what SQLite raises where the disk fails now and then."""
        if self.mood == "broken" and self._chance.random() < _FAILURES:
            fault = sqlite3.OperationalError("disk I/O error")
            fault.sqlite_errorcode = sqlite3.SQLITE_IOERR
            fault.sqlite_errorname = "SQLITE_IOERR"
            raise fault

    def holds(self, path: object) -> bool:
        """Whether a path lies on it."""
        return isinstance(path, str) and path.startswith(self.folder)


class FaultyConnection(sqlite3.Connection):
    """A connection whose writes are steps of `disk`. Being full and being read-only are SQLite's own doing."""

    disk: Disk
    _mood: Mood = "well"

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        word = sql.split(None, 1)[0].upper()
        if word == "BEGIN":
            self._take_mood()
        if not (word in _WRITES or (word == "PRAGMA" and "=" in sql)):
            return super().execute(sql, parameters)
        self.disk.refuse_statement()
        return self.disk.write(lambda: sqlite3.Connection.execute(self, sql, parameters), reaches_disk=word == "COMMIT")

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        self.disk.refuse_statement()
        return self.disk.write(lambda: sqlite3.Connection.executemany(self, sql, parameters), reaches_disk=False)

    def _take_mood(self) -> None:
        """What SQLite itself is to refuse, from this transaction on."""
        mood = self.disk.mood
        if mood == self._mood:
            return
        self._mood = mood
        plain = super().execute
        plain(f"PRAGMA query_only = {'ON' if mood == 'read-only' else 'OFF'}")
        pages = plain("PRAGMA page_count").fetchone()[0] + _ROOM if mood == "full" else _NO_LIMIT
        plain(f"PRAGMA max_page_count = {pages}")


def install(disk: Disk) -> None:
    """Put the disk beneath everything that this process writes into its folder."""
    connect, open_, rename, unlink, mkdir = sqlite3.connect, os.open, os.rename, os.unlink, os.mkdir
    FaultyConnection.disk = disk

    def faulty_connect(database: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        if not disk.holds(database):
            return connect(database, *arguments, **options)
        return connect(database, *arguments, **{"factory": FaultyConnection, **options})

    def faulty_open(path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        if not flags & os.O_CREAT or not disk.holds(path):
            return open_(path, flags, mode, **options)
        disk.refuse_file(path)
        return disk.write(lambda: open_(path, flags, mode, **options))

    def stepping(change: Callable[..., None]) -> Callable[..., None]:
        def changed(path: Any, *arguments: Any, **options: Any) -> None:
            if not disk.holds(path):
                return change(path, *arguments, **options)
            disk.refuse_file(path)
            return disk.write(lambda: change(path, *arguments, **options))

        return changed

    sqlite3.connect = faulty_connect
    os.open = faulty_open
    os.rename, os.unlink, os.mkdir = stepping(rename), stepping(unlink), stepping(mkdir)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
