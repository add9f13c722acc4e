"""Sessions and their entries as rows. Every function runs within the caller's transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

import msgspec

from gemini_companion.adapters.storage import recall_index, search
from gemini_companion.adapters.storage.counts import read_counts, share_counts
from gemini_companion.adapters.storage.leases import require_session, session_not_found
from gemini_companion.adapters.storage.log_rows import (
    cut_from,
    damaged_seqs,
    is_taken,
    leave,
    log_rows,
    newest_seq,
    note_lost,
    share,
    sharers_of,
)
from gemini_companion.adapters.storage.schema import SHARED, TABLES
from gemini_companion.adapters.storage.vaulted import (
    Vaulted,
    WrittenEntry,
    WrittenMeta,
    forget_unused,
    keep_secrets,
    share_secrets,
)
from gemini_companion.adapters.storage.versions import share_versions
from gemini_companion.engine.errors import InvalidInput, StaleVersion
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import ContentEntry, Entry, decode_entry
from gemini_companion.engine.history.use import last_use
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.shared_entries import Ranges

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

META_COLUMNS = "session_id, CAST(title AS TEXT), updated_at, CAST(meta AS BLOB), redacted"
"""What `decode_meta` reads of a session. Cast, as everywhere: a flipped bit makes bytes of a text, or a number."""
ENTRY_COLUMNS: Final = "seq, CAST(json AS BLOB), redacted"
"""What `decoded_rows` reads of an entry."""
MOST_AT_ONCE: Final = 500
"""Ids in one statement; SQLite takes no more than 999 where it is old."""


def insert_session(
    connection: sqlite3.Connection,
    written: WrittenMeta,
    entries: Sequence[WrittenEntry],
    shared: Ranges = (),
) -> None:
    """Add a session with its first entries, behind those that it shares with its parent; see `SessionStore.create`.

    Raises `InvalidInput` if the id is taken, `SessionNotFound` or `StaleVersion` if the parent does not have them.
    """
    meta = written.meta
    if is_taken(connection, meta.session_id):
        raise InvalidInput(
            "There is a session with this id already.", path="$.sessionId", hint="Give the new one another id."
        )
    connection.execute(
        "INSERT INTO sessions (session_id, title, updated_at, meta, redacted, agent_of) VALUES (?, ?, ?, ?, ?, ?)",
        (
            meta.session_id,
            meta.title,
            meta.updated_at,
            written.row.data,
            written.row.redacted,
            meta.agent and meta.agent.session_id,
        ),
    )
    keep_secrets(connection, meta.session_id, written.row.secrets)
    search.index_title(connection, meta.session_id, meta.title)
    if meta.parent is not None:
        share_versions(connection, meta.parent, meta.session_id)
        share_secrets(connection, meta.parent, meta.session_id)
        share_counts(connection, meta.parent, meta.session_id)
        share(connection, meta.parent, meta.session_id, shared, before=entries[0].entry.seq if entries else 0)
    _insert_entries(connection, meta.session_id, entries)


def update_session(connection: sqlite3.Connection, written: WrittenMeta) -> None:
    """Replace a session's metadata. Raises `SessionNotFound`."""
    meta = written.meta
    row = connection.execute(
        "SELECT CAST(title AS TEXT) FROM sessions WHERE session_id = ?", (meta.session_id,)
    ).fetchone()
    if row is None:
        raise session_not_found(meta.session_id)
    if row[0] != meta.title:
        search.index_title(connection, meta.session_id, meta.title)
    connection.execute(
        "UPDATE sessions SET title = ?, updated_at = ?, meta = ?, redacted = ? WHERE session_id = ?",
        (meta.title, meta.updated_at, written.row.data, written.row.redacted, meta.session_id),
    )
    keep_secrets(connection, meta.session_id, written.row.secrets)


def delete_session(connection: sqlite3.Connection, session_id: str) -> None:
    """Delete a session and those of its subagents. Raises `SessionNotFound`."""
    require_session(connection, session_id)
    for one in (*agents_of(connection, session_id), session_id):
        recall_index.forget(connection, one)
        for table in (table for table in TABLES if table not in SHARED):
            connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (one,))
        leave(connection, one)
    forget_unused(connection)


def agents_of(connection: sqlite3.Connection, session_id: str) -> list[str]:
    """Ids of the sessions of a chat's subagents."""
    return agents_by_chat(connection, [session_id]).get(session_id, [])


def agents_by_chat(connection: sqlite3.Connection, session_ids: Sequence[str]) -> dict[str, list[str]]:
    """The same of many chats; those without any are left out."""
    agents: dict[str, list[str]] = {}
    for start in range(0, len(session_ids), MOST_AT_ONCE):
        some = session_ids[start : start + MOST_AT_ONCE]
        for chat, session_id in connection.execute(
            f"SELECT agent_of, session_id FROM sessions WHERE agent_of IN ({places(some)})", some
        ):
            agents.setdefault(chat, []).append(session_id)
    return agents


def places(arguments: Sequence[object]) -> str:
    """A place for each of these in a list of SQL."""
    return ",".join("?" * len(arguments))


def append_entries(connection: sqlite3.Connection, session_id: str, entries: Sequence[WrittenEntry]) -> None:
    """Append entries to the log. Raises `StaleVersion` if their `seq` does not continue it."""
    if not entries:
        return
    first = entries[0].entry.seq
    last = newest_seq(connection, session_id)
    if first <= last and _move_damaged(connection, session_id, first):
        last = newest_seq(connection, session_id)
    if first != last + 1:
        raise StaleVersion(
            f"The log ends at {last}, so the next entry cannot be number {first}.", hint="Read the session again."
        )
    if sharers := sharers_of(connection, session_id, first):  # of rows that were lost, not of the ones that come now
        for one in sharers:
            recall_index.forget(connection, one, from_seq=first)
        note_lost(connection, session_id, first)
        cut_from(connection, session_id, first)
    _insert_entries(connection, session_id, entries)
    if (used := last_use(each.entry for each in entries)) is not None:
        connection.execute(
            "UPDATE sessions SET updated_at = max(updated_at, ?) WHERE session_id = ?", (used, session_id)
        )


def read_meta(connection: sqlite3.Connection, vaulted: Vaulted, session_id: str) -> SessionMeta:
    """A session's metadata without `held_by`. Raises `SessionNotFound`."""
    row = connection.execute(f"SELECT {META_COLUMNS} FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
    if row is None:
        raise session_not_found(session_id)
    return decode_meta(connection, vaulted, row)


_MOST_MISSING: Final = 10_000
"""Entries beyond the last readable one that are named: a number may be damaged too."""


class ReadLog(NamedTuple):
    """A session's log as it was read."""

    entries: list[Entry]
    """In order, without those that are damaged."""
    damaged: list[int]
    """Numbers of the entries that were lost to damage, now or earlier."""
    missing: list[int]
    """Those of them of which no row tells; it may be there, and be found on another way."""
    counts: StoredCounts
    """What is known of the sizes of its contents."""


def read_entries(connection: sqlite3.Connection, vaulted: Vaulted, session_id: str) -> ReadLog:
    """The log. A damaged entry is left out with a warning; the others stay readable."""
    damaged = damaged_seqs(connection, session_id)
    entries: list[Entry] = []
    checksums: dict[int, int] = {}
    rows = log_rows(connection, session_id, ENTRY_COLUMNS)
    for entry, raw in decoded_rows(connection, vaulted, session_id, rows, damaged):
        entries.append(entry)
        if isinstance(entry, ContentEntry):
            checksums[entry.seq] = crc32(raw)
    missing = _missing({*damaged, *(entry.seq for entry in entries)}, newest_seq(connection, session_id))
    return ReadLog(entries, sorted({*damaged, *missing}), missing, read_counts(connection, session_id, checksums))


def _missing(there: set[int], newest: int) -> list[int]:
    """Numbers that the log must have had: they go on by one up to the newest, which a damaged index may still name."""
    last = max(there, default=0)
    return [
        *(range(last + 1, min(newest, last + _MOST_MISSING) + 1)),
        *([seq for seq in range(1, last) if seq not in there] if len(there) < last else ()),
    ]


def decoded_rows(
    connection: sqlite3.Connection,
    vaulted: Vaulted,
    session_id: str,
    rows: Iterable[tuple[Any, ...]],
    damaged: list[int],
) -> Iterator[tuple[Entry, bytes]]:
    """The entries of rows with their JSON; the numbers of those that are damaged are added to `damaged`."""
    for seq, data, redacted in rows:
        raw = vaulted.restored(connection, data, redacted)
        try:
            entry = decode_entry(raw)
        except ValueError as fault:
            _log.warning("Entry %d of session %s is damaged and is left out: %s", seq, session_id, fault)
            damaged.append(int(seq))
            continue
        yield entry, raw


def session_ids(connection: sqlite3.Connection) -> list[str]:
    """Every session's id."""
    return [row[0] for row in connection.execute("SELECT session_id FROM sessions")]


def long_due(connection: sqlite3.Connection, now: int, deadline: int, grace: int) -> list[str]:
    """Ids of the sessions last written before `deadline` that were so at an earlier call too, `grace` ms ago or more.

    Times are ms since 1970. The others written before `deadline` are noted. If the newest time that the store knows is
    before `deadline` too, either nobody was here for long or the clock has jumped: all begin anew.
    """
    (newest,) = connection.execute(
        "SELECT max((SELECT coalesce(max(updated_at), 0) FROM sessions),"
        " (SELECT coalesce(max(since), 0) FROM due_sessions WHERE since <= ?))",
        (now,),
    ).fetchone()
    connection.execute(
        "DELETE FROM due_sessions WHERE ? OR since > ?"
        " OR session_id NOT IN (SELECT session_id FROM sessions WHERE updated_at < ? AND agent_of IS NULL)",
        (newest < deadline, now, deadline),
    )
    connection.execute(
        "INSERT OR IGNORE INTO due_sessions (session_id, since)"
        " SELECT session_id, ? FROM sessions WHERE updated_at < ? AND agent_of IS NULL",
        (now, deadline),
    )
    rows = connection.execute("SELECT session_id FROM due_sessions WHERE since <= ? ORDER BY since", (now - grace,))
    return [row[0] for row in rows]


def delete_older(connection: sqlite3.Connection, session_id: str, deadline: int) -> bool:
    """Delete the session if it was last written before `deadline` (ms since 1970); true if so."""
    row = connection.execute(
        "SELECT updated_at < ? FROM sessions WHERE session_id = ?", (deadline, session_id)
    ).fetchone()
    if row is None or not row[0]:
        return False
    delete_session(connection, session_id)
    return True


def decode_meta(connection: sqlite3.Connection, vaulted: Vaulted, row: tuple[str, str, int, bytes, int]) -> SessionMeta:
    """The metadata in a row of `META_COLUMNS`; only what the other columns have if `meta` is damaged."""
    session_id, shown, updated_at, data, redacted = row
    title = vaulted.restored_text(connection, shown, redacted)
    try:
        meta = msgspec.json.decode(vaulted.restored(connection, data, redacted), type=SessionMeta)
    except ValueError as fault:
        _log.warning("What is known of session %s is damaged; its title and log are still there: %s", session_id, fault)
        meta = SessionMeta(session_id=session_id, title=title, model="", created_at=updated_at, updated_at=updated_at)
    return msgspec.structs.replace(meta, session_id=session_id, title=title, updated_at=updated_at, held_by=None)


def bare_meta(data: bytes) -> SessionMeta | None:
    """The metadata of a row as it is stored, secrets as markers; `None` if it is damaged."""
    try:
        return msgspec.json.decode(data, type=SessionMeta)
    except ValueError:
        return None


def bare_meta_of(connection: sqlite3.Connection, session_id: str) -> SessionMeta | None:
    """The same of a session; `None` if there is no such."""
    row = connection.execute("SELECT CAST(meta AS BLOB) FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
    return bare_meta(row[0]) if row is not None else None


def _insert_entries(connection: sqlite3.Connection, session_id: str, entries: Sequence[WrittenEntry]) -> None:
    last = 0
    for entry, row in entries:
        if entry.seq <= last:
            raise StaleVersion(f"Entry {entry.seq} comes after entry {last}.", hint="Read the session again.")
        last = entry.seq
        connection.execute(
            "INSERT INTO log (session_id, seq, id, type, time, json, redacted) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session_id, entry.seq, entry.id, entry.__struct_config__.tag, entry.time, row.data, row.redacted),
        )
        if row.secrets:
            keep_secrets(connection, session_id, row.secrets)
    if entries:
        recall_index.index_appended(connection, session_id, [entry for entry, _ in entries])


def _move_damaged(connection: sqlite3.Connection, session_id: str, first: int) -> bool:
    """Move the rows from `first` on to `damaged_entries` if none of them can be decoded; False if one can."""
    rows = list(log_rows(connection, session_id, ENTRY_COLUMNS, first=first))
    for _, data, _ in rows:
        try:
            decode_entry(data)
        except ValueError:
            continue
        return False
    for one in (session_id, *sharers_of(connection, session_id, first, rows[-1][0])):
        has = {seq for (seq,) in log_rows(connection, one, "seq", first=first, last=rows[-1][0])}
        connection.executemany(
            "INSERT INTO damaged_entries (session_id, seq, json, redacted) VALUES (?, ?, ?, ?)",
            [(one, *row) for row in rows if row[0] in has],
        )
        recall_index.forget(connection, one, from_seq=first)
    cut_from(connection, session_id, first)
    return True


def what_was_lost(meta: SessionMeta, damaged: Sequence[int], directory: str) -> str:
    """What to tell of a session that lost entries."""
    shown = ", ".join(map(str, damaged[:5])) + (", …" if len(damaged) > 5 else "")
    what = f"1 entry (number {shown})" if len(damaged) == 1 else f"{len(damaged)} entries (numbers {shown})"
    return (
        f"The chat “{meta.title or meta.session_id}” lost {what} to damage of the disk; everything else of it is there."
        " Export the chat to have a copy of what is left, and check the disk. What is damaged is kept in"
        f" {directory}: a backup of that folder from before may still have it whole."
    )
