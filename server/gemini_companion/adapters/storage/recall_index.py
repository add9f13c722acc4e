"""The index for recall: filled as entries are appended, and in small steps from logs that were there before it.

Every function runs within the caller's transaction. All of it is made of the log: what is missing is indexed later, and
what is damaged is emptied and indexed anew.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from gemini_companion.engine.history.log import Entry, TurnEndEntry, decode_entry
from gemini_companion.engine.recall.passages import (
    Remembered,
    Speaker,
    entry_text,
    passage_spans,
    remembered,
    spoken_entry,
)
from gemini_companion.engine.recall.ranking import PLACE_BITS, spot_of
from gemini_companion.engine.recall.words import indexed

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

PART_BITS: Final = 9
TOOL: Final = 1 << (PART_BITS - 1)
_PART: Final = TOOL - 1

_STEP_ENTRIES: Final = 100
_STEP_CHARACTERS: Final = 50_000
"""What is indexed in one step, about: it takes some 25 ms, and others wait for it."""
_AT_ONCE: Final = 200
"""Entries of one append that are indexed with it; of more, a fork's or an import's, all are indexed later."""

_SPEAKERS: Final[tuple[Speaker, ...]] = ("user", "model", "tool")
_QUESTION, _TIME = 4, 8
_ALL: Final = 15
_DECODED: Final = tuple(
    Remembered(_SPEAKERS[min(about & 3, 2)], bool(about & _QUESTION), bool(about & _TIME)) for about in range(_ALL + 1)
)

TABLES: Final = ("recall_sessions", "passages", "vectors")


class Row(NamedTuple):
    """A row of the full-text index: a part of what stands at a spot."""

    spot: int
    part: int
    is_tool: bool


def row_of(rowid: int) -> Row:
    """What a rowid says."""
    return Row(rowid >> PART_BITS, rowid & _PART, bool(rowid & TOOL))


def row_id(spot: int, part: int, *, is_tool: bool) -> int:
    """The rowid of a part of what stands at a spot."""
    return spot << PART_BITS | (TOOL if is_tool else 0) | part


def rows_of(first_spot: int, last_spot: int) -> tuple[int, int]:
    """The first and the last rowid that these spots may have."""
    return first_spot << PART_BITS, (last_spot + 1 << PART_BITS) - 1


def spots_of(number: int) -> tuple[int, int]:
    """The first and the last spot of the session with this number."""
    return spot_of(number, 0), spot_of(number + 1, 0) - 1


def decode_about(about: int) -> Remembered:
    """What ranking asks of an entry, from its column."""
    return _DECODED[about & _ALL]


def index_appended(connection: sqlite3.Connection, session_id: str, entries: Sequence[Entry]) -> None:
    """Index entries that were just written, unless earlier ones are still to be indexed."""
    state = _state(connection, session_id)
    if not is_left_for_later(entries) and entries[0].seq == state.indexed_to + 1:
        _index(connection, state, entries)


def is_left_for_later(entries: Sequence[Entry]) -> bool:
    """Whether so many entries are written at once that `index_appended` leaves them out."""
    return len(entries) > _AT_ONCE


def index_step(connection: sqlite3.Connection, session_id: str | None = None) -> int:
    """Index some entries of a session that has such, the newest session first; returns how many sessions have more.

    With `session_id` only that one counts.
    """
    _forget_gone(connection)
    behind = _sessions_behind(connection, session_id)
    if not behind:
        return 0
    state = _state(connection, behind[0])
    entries: list[Entry] = []
    size, last = 0, state.indexed_to
    for seq, data in connection.execute(
        "SELECT seq, json FROM log WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (behind[0], state.indexed_to, _STEP_ENTRIES),
    ):
        last, size = int(seq), size + len(data)
        try:
            entries.append(decode_entry(data))
        except ValueError:
            _log.warning("Entry %d of session %s is damaged and cannot be recalled.", seq, behind[0])
        if size > _STEP_CHARACTERS:
            break
    _index(connection, state, entries, indexed_to=last)
    return len(_sessions_behind(connection, session_id))


def count_behind(connection: sqlite3.Connection, session_id: str | None = None) -> int:
    """How many sessions have entries that are not indexed yet."""
    return len(_sessions_behind(connection, session_id))


def forget(connection: sqlite3.Connection, session_id: str, *, from_seq: int = 0) -> None:
    """Remove a session from the index, or only what stands in its log from `from_seq` on."""
    row = connection.execute("SELECT number FROM recall_sessions WHERE session_id = ?", (session_id,)).fetchone()
    if row is None:
        return
    first, last = spots_of(int(row[0]))
    if not from_seq:
        _remove(connection, first, last)
        connection.execute("DELETE FROM recall_sessions WHERE session_id = ?", (session_id,))
        return
    gone = connection.execute(
        "SELECT min(id) FROM passages WHERE id BETWEEN ? AND ? AND seq >= ?", (first, last, from_seq)
    ).fetchone()[0]
    if gone is not None:
        _remove(connection, int(gone), last)
    connection.execute(
        "UPDATE recall_sessions SET indexed_to = min(indexed_to, ?) WHERE session_id = ?", (from_seq - 1, session_id)
    )


def empty(connection: sqlite3.Connection) -> None:
    """Remove everything, so that it is indexed anew; also of a damaged index."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")
    (statement,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'recall'").fetchone()
    connection.execute("DROP TABLE recall")
    connection.execute(statement)


_PLAIN_WORD: Final = re.compile(r"(?<![^\x00-\x7f\s])(?<![\w])[A-Za-z0-9]{1,60}(?![\w])(?![^\x00-\x7f\s])")
"""A word that every tokenizer takes as the same one: ASCII, and nothing else touches it."""


def is_sound(connection: sqlite3.Connection) -> bool:
    """False if the oldest or the newest passage is not found by its own first word; an index can lose all without a
    fault. Raises `sqlite3.DatabaseError` if it cannot be read.
    """
    for end in ("min", "max"):
        row = connection.execute(
            f"SELECT rowid, body FROM recall WHERE rowid = (SELECT {end}(id) FROM recall_content)"
        ).fetchone()
        word = _PLAIN_WORD.search(row[1]) if row is not None else None
        if row is None or word is None:
            continue
        asked = (f'"{word[0]}"', row[0])
        if not connection.execute("SELECT 1 FROM recall WHERE recall MATCH ? AND rowid = ?", asked).fetchone():
            return False
    return True


class _State(NamedTuple):
    session_id: str
    number: int
    indexed_to: int
    places: int


def _state(connection: sqlite3.Connection, session_id: str) -> _State:
    """How far a session is indexed; noted with the first question."""
    select = "SELECT number, indexed_to, places FROM recall_sessions WHERE session_id = ?"
    row = connection.execute(select, (session_id,)).fetchone()
    if row is None:
        connection.execute(
            "INSERT INTO recall_sessions (session_id, indexed_to, places) VALUES (?, 0, 0)", (session_id,)
        )
        row = connection.execute(select, (session_id,)).fetchone()
    return _State(session_id, *map(int, row))


def _sessions_behind(connection: sqlite3.Connection, session_id: str | None) -> list[str]:
    where, arguments = ("sessions.session_id = ? AND", (session_id,)) if session_id is not None else ("", ())
    rows = connection.execute(
        "SELECT sessions.session_id FROM sessions LEFT JOIN recall_sessions USING (session_id)"
        f" WHERE {where} coalesce(indexed_to, 0) <"
        " (SELECT coalesce(max(seq), 0) FROM log WHERE log.session_id = sessions.session_id)"
        " ORDER BY updated_at DESC",
        arguments,
    )
    return [row[0] for row in rows]


def _forget_gone(connection: sqlite3.Connection) -> None:
    """Remove a session that a process of an earlier version deleted."""
    row = connection.execute(
        "SELECT session_id FROM recall_sessions WHERE session_id NOT IN (SELECT session_id FROM sessions) LIMIT 1"
    ).fetchone()
    if row is not None:
        forget(connection, row[0])


def _index(
    connection: sqlite3.Connection, state: _State, entries: Sequence[Entry], *, indexed_to: int | None = None
) -> None:
    place = state.places
    for entry in entries:
        if isinstance(entry, TurnEndEntry) and entry.outcome != "completed":
            _remove_turn(connection, state.number, entry)
        spoken = spoken_entry(entry)
        text = entry_text(spoken) if spoken is not None else ""
        spans = passage_spans(text)
        if spoken is None or not spans or place + 1 >= 1 << PLACE_BITS:
            continue
        place += 1
        about, spot = remembered(spoken, text), spot_of(state.number, place)
        connection.execute(
            "INSERT INTO passages (id, seq, time, about, parts, entry_id, turn_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (spot, entry.seq, entry.time, _encode_about(about), len(spans), entry.id, spoken.turn_id),
        )
        is_tool = about.speaker == "tool"
        connection.executemany(
            "INSERT INTO recall (rowid, body) VALUES (?, ?)",
            [
                (row_id(spot, part, is_tool=is_tool), indexed(text[start:end]))
                for part, (start, end) in enumerate(spans)
            ],
        )
    if indexed_to is None:
        indexed_to = entries[-1].seq
    connection.execute(
        "UPDATE recall_sessions SET indexed_to = ?, places = ? WHERE number = ?", (indexed_to, place, state.number)
    )


def _remove_turn(connection: sqlite3.Connection, number: int, end: TurnEndEntry) -> None:
    """Take out what no view shows any more: a turn that was replaced, what a broken-off one did not keep.

    The places stay empty; those beside them do not move.
    """
    kept_to = 0 if end.outcome == "replaced" else end.kept_to
    spots = connection.execute(
        "SELECT id FROM passages WHERE id BETWEEN ? AND ? AND turn_id = ? AND seq > ?",
        (*spots_of(number), end.turn_id, kept_to),
    ).fetchall()
    for (spot,) in spots:
        _remove(connection, spot, spot)


def _remove(connection: sqlite3.Connection, first: int, last: int) -> None:
    rows = rows_of(first, last)
    connection.execute("DELETE FROM recall WHERE rowid BETWEEN ? AND ?", rows)
    connection.execute("DELETE FROM vectors WHERE id BETWEEN ? AND ?", rows)
    connection.execute("DELETE FROM passages WHERE id BETWEEN ? AND ?", (first, last))


def _encode_about(about: Remembered) -> int:
    flags = (_QUESTION if about.is_question else 0) | (_TIME if about.names_time else 0)
    return _SPEAKERS.index(about.speaker) | flags
