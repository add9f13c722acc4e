"""What was written before there was a vault, or while redaction was off: gone through in the background, once.

Each step is a transaction of its own, so that an end at any time loses nothing, and the next start goes on. Rows say
themselves whether they are done; `redaction` says it of the files beside the database and of its free pages.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from gemini_companion.adapters.private_files import read_private_file, replace_private_file, safe_name
from gemini_companion.adapters.storage import recall_index, search
from gemini_companion.adapters.storage.log_rows import sharers_of
from gemini_companion.adapters.storage.private_texts import REDACTED, written_text
from gemini_companion.adapters.storage.vaulted import PROJECT, Row, Vaulted, keep_secrets, note_left
from gemini_companion.adapters.vault.sealing import STREAM, is_sealed
from gemini_companion.sessions.ports import SessionMeta

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.storage.event_log import EventKeeper
    from gemini_companion.adapters.storage.version_store import SqliteVersions
    from gemini_companion.adapters.storage.worker import Worker
    from gemini_companion.adapters.vault.vault import Vault

_log = logging.getLogger(__name__)

_STEP_BYTES: Final = 200_000
_STEP_ROWS: Final = 200
_LARGE: Final = 512 * 2**20
"""Bytes of a database from which on it is not rewritten: that takes seconds, in which nothing can be stored."""
_JSON: Final = (
    ("log", "session_id", "json"),
    ("sessions", "session_id", "meta"),
    ("damaged_entries", "session_id", "json"),
    ("constraints", f"'{PROJECT}'", "json"),
)
"""Tables with a column `redacted`: their names, whose secrets they have, and where their JSON is."""
_OPEN_EVENTS: Final = "SELECT rowid, CAST(json AS BLOB) FROM events WHERE substr(json, 1, 1) IN ('{', x'7b')"


class _Old(NamedTuple):
    rowid: int
    session_id: str
    data: bytes


class Redacting:
    """The work on one project."""

    def __init__(
        self,
        worker: Worker,
        vault: Vault | None,
        vaulted: Vaulted,
        events: EventKeeper,
        versions: SqliteVersions,
        directory: str,
    ) -> None:
        self._worker = worker
        self._vault = vault
        self._vaulted = vaulted
        self._events = events
        self._versions = versions
        self._directory = directory

    async def run(self) -> None:
        """Do what is left to do. Raises `StorageFault`."""
        if self._vault is None or not self._vaulted.is_on or not await self._worker.run("read", _is_left):
            return  # as at nearly every start: then neither a key nor the finders are loaded for it
        if not await asyncio.to_thread(self._vault.has_key):
            _log.warning("What was stored earlier keeps its secrets: without a key they would be masked for good.")
            return
        for table, owner, column in _JSON:
            while old := await self._worker.run("read", lambda c, t=table, o=owner, k=column: _old(c, t, o, k)):
                await self._worker.write(
                    lambda old=old: [(one, self._vaulted.row(one.data)) for one in old],
                    lambda connection, rows, t=table, k=column: _install(connection, t, k, rows),
                )
        while await self._worker.run("write", self._close_events):
            pass
        files, _ = await self._worker.run("read", _state)
        if files and await self._redact_files() and await asyncio.to_thread(self._versions.close_older):
            await self._worker.run("write", lambda connection: note_left(connection, "files", is_left=False))
        if (await self._worker.run("read", _state))[1]:
            await self._worker.run("alone", _clean)

    def _close_events(self, connection: sqlite3.Connection) -> int:
        """Close some events that are open; returns how many."""
        rows = connection.execute(f"{_OPEN_EVENTS} LIMIT ?", (_STEP_ROWS,)).fetchall()
        for rowid, data in rows:
            raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
            closed = self._events.closed(raw)
            if closed is None:
                return 0
            connection.execute("UPDATE events SET json = ? WHERE rowid = ?", (closed, rowid))
        if rows:
            note_left(connection, "pages")
        return len(rows)

    async def _redact_files(self) -> bool:
        """Go through the sessions' private files; False if some could not be written."""
        names = await self._worker.run(
            "read", lambda connection: [str(row[0]) for row in connection.execute("SELECT session_id FROM sessions")]
        )
        is_whole = True
        for session_id in names:
            folder = os.path.join(self._directory, "files", safe_name(session_id))
            for path in await asyncio.to_thread(_files_in, folder):
                try:
                    await self._redact_file(session_id, path)
                except OSError as fault:
                    _log.warning("A private file still has what was written to it: %s", fault)
                    is_whole = False
        return is_whole

    async def _redact_file(self, session_id: str, path: str) -> None:
        data = await asyncio.to_thread(read_private_file, path)
        if data is None or data.endswith(REDACTED) or data.startswith(STREAM) or is_sealed(data):
            return
        text = data.decode(errors="replace")
        written, secrets = await asyncio.to_thread(written_text, self._vault, text)
        if secrets:
            await self._worker.run("write", lambda connection: keep_secrets(connection, session_id, secrets))
        if written != data:
            await asyncio.to_thread(replace_private_file, path, written)


def _is_left(connection: sqlite3.Connection) -> bool:
    """Whether anything is to be gone through."""
    rows = [f"SELECT 1 FROM {table} WHERE redacted = 0" for table, _, _ in _JSON]
    return any(_state(connection)) or any(
        connection.execute(f"{query} LIMIT 1").fetchone() is not None for query in (*rows, _OPEN_EVENTS)
    )


def _old(connection: sqlite3.Connection, table: str, owner: str, column: str) -> list[_Old]:
    """Some rows that are not redacted."""
    found: list[_Old] = []
    size = 0
    for rowid, session_id, data in connection.execute(
        f"SELECT rowid, {owner}, CAST({column} AS BLOB) FROM {table} WHERE redacted = 0 LIMIT ?", (_STEP_ROWS,)
    ):
        raw = bytes(data)
        found.append(_Old(rowid, session_id, raw))
        size += len(raw)
        if size > _STEP_BYTES:
            break
    return found


def _install(connection: sqlite3.Connection, table: str, column: str, rows: Sequence[tuple[_Old, Row]]) -> None:
    """Put the redacted rows in their places, and take what they said before out of the indexes."""
    for old, row in rows:
        where = f"FROM {table} WHERE rowid = ? AND redacted = 0"
        if connection.execute(f"SELECT 1 {where} AND {column} = ?", (old.rowid, old.data)).fetchone() is None:
            # Another process was here, or it is text where it should be bytes.
            connection.execute(
                f"UPDATE {table} SET {column} = CAST({column} AS BLOB) WHERE rowid = ? AND redacted = 0", (old.rowid,)
            )
            continue
        holders = _holders(connection, table, old)
        if row.data != old.data:
            note_left(connection, "pages")
            if table == "log":
                for one in holders:  # it says what is taken out as long as it is the old one
                    recall_index.forget(connection, one)
            elif table == "sessions":
                _rename(connection, old, row)
        connection.execute(f"UPDATE {table} SET {column} = ?, redacted = 1 WHERE rowid = ?", (row.data, old.rowid))
        for one in holders:
            keep_secrets(connection, one, row.secrets)


def _holders(connection: sqlite3.Connection, table: str, old: _Old) -> list[str]:
    """The sessions that have a row: whoever wrote it, unless that is gone, and the forks that share it."""
    if table != "log":
        return [old.session_id]
    (seq,) = connection.execute("SELECT seq FROM log WHERE rowid = ?", (old.rowid,)).fetchone()
    is_there = connection.execute("SELECT 1 FROM sessions WHERE session_id = ?", (old.session_id,)).fetchone()
    return [*([old.session_id] if is_there else []), *sharers_of(connection, old.session_id, seq, seq)]


def _rename(connection: sqlite3.Connection, old: _Old, row: Row) -> None:
    try:
        title = msgspec.json.decode(row.data, type=SessionMeta).title
    except ValueError:
        return
    search.index_title(connection, old.session_id, title)
    connection.execute("UPDATE sessions SET title = ? WHERE rowid = ?", (title, old.rowid))


def _state(connection: sqlite3.Connection) -> tuple[bool, bool]:
    """Whether files, and free pages, are still to be gone through."""
    row = connection.execute("SELECT files, pages FROM redaction").fetchone()
    return (bool(row[0]), bool(row[1])) if row is not None else (True, True)


def _clean(connection: sqlite3.Connection) -> None:
    """Leave nothing in the database's free pages and merged away parts of its indexes. Raises `sqlite3.Error`."""
    pages, size = (connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "page_size"))
    if pages * size > _LARGE:
        _log.warning(
            "The session store has %d MB, too many to be rewritten while others wait: what stood in its free pages goes"
            " when they are filled again.",
            pages * size // 2**20,
        )
        note_left(connection, "pages", is_left=False)
        return
    for index in ("texts", "recall"):
        connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
    connection.execute("VACUUM")
    note_left(connection, "pages", is_left=False)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _files_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
