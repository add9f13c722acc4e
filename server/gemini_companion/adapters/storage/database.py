"""One SQLite file and the connection to it, opened when first needed and again whenever it has become unusable.

Everything here runs on the writer thread.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.private_files import close_to_others, create_private_file, make_private_directory
from gemini_companion.adapters.storage import faults, recall_index, search
from gemini_companion.adapters.storage.full_text import INDEXES
from gemini_companion.adapters.storage.held_store import lost_behind
from gemini_companion.adapters.storage.schema import (
    FILE_NAME,
    PROJECT_TABLES,
    TABLES,
    check_version,
    migrate,
)
from gemini_companion.engine.errors import StorageFault

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

_BUSY_SECONDS: Final = 5.0
"""Seconds that a statement waits for another process."""

_OPENING_SECONDS: Final = 10.0
"""Seconds that opening waits for another process that is opening the same file."""

_MAX_JOURNAL: Final = 16 * 1024 * 1024
"""Bytes that the write-ahead log may keep after it was written back."""

_BESIDE: Final = ("files", "versions")
"""Folders that are there only where there were chats."""

_COMPANIONS: Final = ("", "-wal", "-shm")
"""Suffixes of the files of a database in WAL mode."""


class Database:
    """The file `sessions.db` in `directory`.

    `notify` gets a sentence for people when a damaged file was moved aside. `now` gives ms since 1970.
    """

    def __init__(self, directory: str, *, now: Callable[[], int], notify: Callable[[str], None]) -> None:
        self.directory = directory
        self.path = os.path.join(directory, FILE_NAME)
        self._fresh = f"{self.path}.new"
        self._begun = f"{self.path}.begun"
        self._now = now
        self._notify = notify
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._is_durable = False
        self._is_suspect = False
        self._is_schema_suspect = False

    @property
    def is_open(self) -> bool:
        """True while there is a connection."""
        return self._connection is not None

    def connection(self) -> sqlite3.Connection:
        """The connection, opened if need be. Raises `StorageFault`, `sqlite3.Error` or `OSError`."""
        if self._connection is not None and self._file != self._identity():
            # Writing on would go to a file that no longer has a name.
            _log.warning("The session store %s was removed or replaced; it is opened again.", self.path)
            self.drop()
        if self._connection is None:
            self._connection = self._open()
            self._file = self._identity()
            self._is_durable = False
        return self._connection

    def be_durable(self, is_durable: bool) -> None:
        """Choose whether the next transaction is on disk when committed, or only survives this process's death."""
        if is_durable != self._is_durable:
            self.connection().execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'NORMAL'}")
            self._is_durable = is_durable

    def doubt(self, fault: BaseException) -> None:
        """Note that a statement failed, and drop the connection or suspect the file if the fault calls for it."""
        code = faults.result_code(fault)
        self._is_suspect = self._is_suspect or code in faults.BROKEN
        # A statement of ours that SQLite does not understand: a column or a table has another name than it was given.
        self._is_schema_suspect = self._is_schema_suspect or code in faults.MALFORMED
        if code in faults.UNUSABLE or code == faults.ERROR:
            self.drop()

    def drop(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _open(self) -> sqlite3.Connection:
        make_private_directory(self.directory)
        close_to_others(self.directory)
        with suppress(OSError):  # it may be somebody else's; what is ours is closed either way
            close_to_others(os.path.dirname(self.directory))
        with self._alone():
            if not os.path.exists(self.path) and os.path.exists(self._fresh):
                os.rename(self._fresh, self.path)  # the process ended between the two renames of `_renewed`
            self._make_way()
            was_there = os.path.exists(self.path)
            try:
                connection = _prepared(
                    self.path,
                    is_suspect=self._is_suspect,
                    is_schema_suspect=self._is_schema_suspect,
                    on_lost_changes=self._tell_lost_changes,
                    on_empty=self._tell_emptied if was_there else lambda: None,
                )
            except Exception as fault:
                if not faults.is_damage(fault):
                    raise
                connection = self._renewed()
            with suppress(OSError):
                create_private_file(self._begun)
        self._is_suspect = self._is_schema_suspect = False
        return connection

    def _make_way(self) -> None:
        """Put aside what is no file, in the place of the store and of what SQLite keeps beside it."""
        for companion in ("-wal", "-shm", "-journal"):
            beside = self.path + companion
            if os.path.lexists(beside) and not stat.S_ISREG(os.lstat(beside).st_mode):
                aside = self._aside(companion)
                os.rename(beside, aside)
                self._tell(
                    f"SQLite keeps a file of its own in the place of {beside}: what was there was put aside as {aside}."
                )
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            return  # a link may lead to a disk that is not there yet
        except OSError as fault:
            if fault.errno != errno.ELOOP:
                raise
            status = None
        if status is None or not stat.S_ISREG(status.st_mode):
            aside = self._put_aside()
            self._tell(
                f"Where the session store was there was no file. What was there was put aside as {aside}, and a new"
                " store was begun. If you have a backup of that folder, put its files back."
            )

    def _tell_emptied(self) -> None:
        """Say that a file without chats has taken the place of a store: an empty one, another program's, or one whose
        log of changes is gone.
        """
        if os.path.exists(self._begun) or any(_has_entries(os.path.join(self.directory, name)) for name in _BESIDE):
            self._tell(
                f"The session store {self.path} is empty, though there was one with earlier chats: those chats are not"
                " in it any more. If you have a backup of that folder, end Gemini Companion and put its files back."
            )

    def _tell_lost_changes(self) -> None:
        """Say that the end of the log of changes is damaged: SQLite goes on as if the log ended there."""
        kept = f"{self.path}-wal.broken-{self._stamp()}"
        with suppress(OSError):
            shutil.copyfile(f"{self.path}-wal", kept)
            os.chmod(kept, 0o600)
        self._tell(
            "The last changes to the chats of this project could not be read, for the disk damaged them: what was said"
            f" last may be missing. The damaged file is kept as {kept}. Check the disk."
        )

    def _tell(self, message: str) -> None:
        _log.error(message)
        self._notify(message)

    def _renewed(self) -> sqlite3.Connection:
        """A connection to a new file with what could be read of the damaged one, which is then moved aside."""
        for companion in _COMPANIONS:
            with suppress(FileNotFoundError):
                os.unlink(self._fresh + companion)
        from gemini_companion.adapters.storage.salvage import salvage

        connection = _prepared(self._fresh)
        try:
            sessions, entries, lost = salvage(self.path, connection, scratch=f"{self._fresh}.copy")
        finally:
            connection.close()
        broken = self._put_aside()
        os.rename(self._fresh, self.path)
        message = (
            f"The session store was damaged and was put aside as {broken}; {entries} entries of {sessions} sessions"
            f" could be taken over{f', {lost} could not' if lost else ''}. Check the disk, and export the chats that"
            " matter to you."
        )
        self._tell(message)
        return _prepared(self.path)

    def _aside(self, companion: str = "") -> str:
        """A name that is free."""
        name = f"{self.path}{companion}.broken-{self._stamp()}"
        while os.path.lexists(name):
            name += "-again"
        return name

    def _put_aside(self) -> str:
        broken = self._aside()
        for companion in reversed(_COMPANIONS):  # the file itself last: without it the others are useless
            with suppress(FileNotFoundError):
                os.rename(self.path + companion, broken + companion)
        return broken

    def _stamp(self) -> str:
        import time

        return time.strftime("%Y%m%dT%H%M%S", time.gmtime(self._now() / 1000))

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Hold the right to open the file, so that two processes do not both move aside a damaged file."""
        try:
            import fcntl
        except ImportError:  # Windows, where a file that another process has open cannot be put aside anyway
            yield
            return
        descriptor = os.open(self.directory, os.O_RDONLY)  # a lock's file could be no file
        try:
            pause = threading.Event()
            for attempt in range(int(_OPENING_SECONDS * 20)):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    pause.wait(0.05 if attempt else 0.005)
                    continue
                except OSError:
                    pass  # a file system without locks: opening without one is better than not opening
                break
            else:
                raise StorageFault(
                    f"Another process has been opening {self.path} for too long.",
                    hint="Try again in a moment.",
                    retryable=True,
                )
            yield
        finally:
            os.close(descriptor)


def _prepared(
    path: str,
    *,
    is_suspect: bool = False,
    is_schema_suspect: bool = False,
    on_lost_changes: Callable[[], None] = lambda: None,
    on_empty: Callable[[], None] = lambda: None,
) -> sqlite3.Connection:
    """A connection to a file of the newest version, created if missing.

    `on_lost_changes` is called where the end of the log of changes is damaged, and nothing was written over it yet,
    `on_empty` where there is no table of ours.

    Raises anything (`faults.is_damage`) if the file is damaged.
    """
    import sqlite3

    create_private_file(path)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.text_factory = _lenient_text
        check_version(connection, path)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA journal_size_limit = {_MAX_JOURNAL}")
        connection.execute("PRAGMA synchronous = NORMAL")
        if _has_lost_changes(connection, path):
            on_lost_changes()
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            on_empty()
        migrate(connection)
        for table in (*TABLES, *PROJECT_TABLES, *recall_index.TABLES):
            connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
        if is_suspect or is_schema_suspect:
            _check(connection, wholly=is_suspect)
        search.teach(connection)
        if is_suspect or not _are_indexes_readable(connection):
            _repair_indexes(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _has_lost_changes(connection: sqlite3.Connection, path: str) -> bool:
    # It writes changes back, nothing to the log. No other statement says how many of the log's frames count.
    _, counted, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if counted < 0 or not lost_behind(path, counted):
        return False
    connection.execute("BEGIN IMMEDIATE")  # what another process had half written is written now
    try:
        return lost_behind(path, counted)
    finally:
        connection.execute("ROLLBACK")


def _has_entries(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def _check(connection: sqlite3.Connection, *, wholly: bool) -> None:
    """Raise `sqlite3.DatabaseError` if tables are not as they were made, or any row but of the full-text index's is
    damaged.
    """
    from gemini_companion.adapters.storage.salvage import is_as_made

    if not is_as_made(connection):
        raise faults.damaged("its tables are not as they were made")
    for table in (*TABLES, *PROJECT_TABLES) if wholly else ():
        if connection.execute(f"PRAGMA integrity_check ({table})").fetchall() != [("ok",)]:
            raise faults.damaged(f"the table {table} is damaged")


def _are_indexes_readable(connection: sqlite3.Connection) -> bool:
    """False if a full-text index is damaged, or made by other rules; they can be made anew."""
    import sqlite3

    try:
        for index in INDEXES:
            connection.execute(f"SELECT rowid FROM {index} WHERE {index} MATCH 'a' LIMIT 1").fetchone()
        return recall_index.is_sound(connection)
    except sqlite3.DatabaseError as fault:
        if faults.result_code(fault) not in faults.BROKEN:
            raise
        return False


def _repair_indexes(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    recall_index.repair(connection)
    connection.execute("COMMIT")


def open_reader(path: str) -> sqlite3.Connection:
    """Another connection to a file that is open, to read from it beside the writer, on any thread."""
    import sqlite3

    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    connection.text_factory = _lenient_text
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    search.teach(connection)
    return connection


def _lenient_text(data: bytes) -> str:
    return data.decode(errors="replace")
