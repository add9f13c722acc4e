"""The indexes for recall and for the listing: filled as entries are appended, and in small steps from logs that were
there before them.

Every function runs within the caller's transaction. All of it is made of the log: what is missing is indexed later, and
what is damaged is emptied and indexed anew.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from gemini_companion.adapters.storage.full_text import INDEXES, Unreadable, is_whole, make_empty, put_in, take_out
from gemini_companion.adapters.storage.indexed_sessions import (
    State,
    can_be,
    has_gone,
    known_state,
    newest_of_noted,
    remove_impossible,
    sessions_behind,
    state_of,
)
from gemini_companion.adapters.storage.kept_vectors import remove_others, remove_vectors
from gemini_companion.adapters.storage.log_rows import log_rows
from gemini_companion.adapters.storage.recall_rows import row_id, row_of_spot, rows_of, spots_of
from gemini_companion.adapters.storage.search import forget_title, index_title, text_rows
from gemini_companion.engine.history.log import ContentEntry, Entry, TurnEndEntry, decode_entry
from gemini_companion.engine.recall.passages import (
    Remembered,
    Speaker,
    entry_text,
    passage_spans,
    remembered,
    speaker_of,
    spoken_entry,
)
from gemini_companion.engine.recall.ranking import PLACE_BITS, spot_of
from gemini_companion.engine.recall.words import RULES_OF_WORDS, indexed

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

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


def decode_about(about: int) -> Remembered:
    """What ranking asks of an entry, from its column."""
    return _DECODED[about & _ALL]


def index_appended(connection: sqlite3.Connection, session_id: str, entries: Sequence[Entry]) -> None:
    """Index entries that were just written, unless earlier ones are still to be indexed."""
    state = state_of(connection, session_id)
    if not is_left_for_later(entries) and entries[0].seq == state.indexed_to + 1:
        try:
            _index(connection, state, entries)
        except Unreadable:
            begin_anew(connection)


def is_left_for_later(entries: Sequence[Entry]) -> bool:
    """Whether so many entries are written at once that `index_appended` leaves them out."""
    return len(entries) > _AT_ONCE


def index_step(connection: sqlite3.Connection, session_id: str | None = None, *, without: Collection[str] = ()) -> int:
    """Index some entries of sessions that have such, the newest sessions first; returns how many sessions have more.

    With `session_id` only that one counts; those in `without` do not.
    """
    if has_gone(connection):
        begin_anew(connection)
    behind = [one for one in sessions_behind(connection, session_id) if one not in without]
    room = _Room(_STEP_ENTRIES, _STEP_CHARACTERS)
    for done, one in enumerate(behind):
        try:
            room = _index_some(connection, one, room)
        except Unreadable:
            begin_anew(connection)
            return sum(one not in without for one in sessions_behind(connection, session_id))
        if room.entries <= 0 or room.characters < 0:
            return len(behind) - done - (not sessions_behind(connection, one))
    return 0


def count_behind(connection: sqlite3.Connection, session_id: str | None = None) -> int:
    """How many sessions have entries that are not indexed yet."""
    return len(sessions_behind(connection, session_id))


def forget(connection: sqlite3.Connection, session_id: str, *, from_seq: int = 0) -> None:
    """Remove a session from the indexes, or only what stands in its log from `from_seq` on.

    To be called before its log is changed, which says what is to be removed.
    """
    state = known_state(connection, session_id)
    if state is None:
        return
    try:
        _take_out(connection, state, from_seq)
    except Unreadable:
        begin_anew(connection)
    if not from_seq:
        forget_title(connection, session_id)
        connection.execute("DELETE FROM recall_sessions WHERE session_id = ?", (session_id,))
        remove_vectors(connection, rows_of(*spots_of(state.number)))  # also of passages that are not indexed anew yet


def forget_some(connection: sqlite3.Connection, session_id: str) -> bool:
    """Remove some of the newest entries of a session that is to be deleted from the indexes; true if it has more.

    So what holds up everybody else takes a moment, however long the session is. The background would index them again.
    """
    state = known_state(connection, session_id)
    if state is None or not state.indexed_to:
        return False
    first, size = state.indexed_to, 0
    newest = log_rows(connection, session_id, "seq, length(json)", last=state.indexed_to, newest_first=True)
    with closing(newest):  # while it is read no index can be made anew
        for seq, length in islice(newest, _STEP_ENTRIES):
            first, size = int(seq), size + length
            if size > _STEP_CHARACTERS:
                break
    forget(connection, session_id, from_seq=max(1, first))
    return True


def steps_to_forget(connection: sqlite3.Connection, session_id: str) -> int:
    """How often `forget_some` must be called at most; 0 for a session that is forgotten in a moment."""
    state, lengths = known_state(connection, session_id), [0]
    if state is not None:
        lengths = [length for (length,) in log_rows(connection, session_id, "length(json)", last=state.indexed_to)]
    return len(lengths) // _STEP_ENTRIES + sum(lengths) // _STEP_CHARACTERS


def begin_anew(connection: sqlite3.Connection) -> None:
    """Remove all that is indexed, so that it is indexed anew; sessions that are there keep their vectors."""
    remove_impossible(connection)
    gone = "FROM recall_sessions WHERE session_id NOT IN (SELECT session_id FROM sessions)"
    for (number,) in connection.execute(f"SELECT number {gone}").fetchall():
        remove_vectors(connection, rows_of(*spots_of(number)))
    connection.execute(f"DELETE {gone}")
    connection.execute("UPDATE recall_sessions SET indexed_to = 0, places = 0, titled = 0")
    connection.execute("DELETE FROM passages")
    for index in INDEXES:
        make_empty(connection, index)
    connection.execute("INSERT OR REPLACE INTO index_rules (id, words) VALUES (1, ?)", (RULES_OF_WORDS,))


def empty(connection: sqlite3.Connection) -> None:
    """Remove everything, vectors too, so that it is made anew; also of a damaged index."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")
    begin_anew(connection)


def repair(connection: sqlite3.Connection) -> None:
    """Have everything indexed anew where something is damaged; vectors are kept unless it may be them."""
    import sqlite3

    with suppress(sqlite3.DatabaseError):
        _note_gone(connection)
    if all(is_whole(connection, table) for table in TABLES):
        begin_anew(connection)
    else:
        empty(connection)


def _note_gone(connection: sqlite3.Connection) -> None:
    """Note as lost what is indexed of a log's end and is not in the log: nothing else tells of it any more."""
    connection.execute(
        "INSERT INTO damaged_entries (session_id, seq, json)"
        f" SELECT DISTINCT session_id, seq, x'' FROM ({newest_of_noted()}) JOIN passages"
        " ON passages.id BETWEEN number << ? AND ((number + 1) << ?) - 1 AND seq > newest",
        (PLACE_BITS, PLACE_BITS),
    )


_PLAIN_WORD: Final = re.compile(r"(?<![^\x00-\x7f\s])(?<![\w])[A-Za-z0-9]{1,60}(?![\w])(?![^\x00-\x7f\s])")
"""A word that every tokenizer takes as the same one: ASCII, and nothing else touches it."""


def is_sound(connection: sqlite3.Connection) -> bool:
    """False if the oldest or the newest passage is not found by its own first word, if other words are indexed now
    than when the index was made, or if what is noted of sessions cannot be; an index can lose all without a fault.

    Raises `sqlite3.DatabaseError` if it cannot be read.
    """
    row = connection.execute("SELECT words FROM index_rules").fetchone()
    if row != (RULES_OF_WORDS,) or not can_be(connection):
        return False
    for end in ("min", "max"):
        spot = connection.execute(f"SELECT {end}(id) FROM passages").fetchone()[0]
        if spot is None:
            continue
        entry = _entry_at(connection, spot)
        if entry is None:
            continue
        rows = _passage_rows(spot, entry)
        word = _PLAIN_WORD.search(rows[0][1]) if rows else None
        if word is None:
            continue
        asked = (f'"{word[0]}"', rows[0][0])
        if not connection.execute("SELECT 1 FROM recall WHERE recall MATCH ? AND rowid = ?", asked).fetchone():
            return False
    return True


class _Room(NamedTuple):
    """How much more a step of indexing takes."""

    entries: int
    characters: int


def _index_some(connection: sqlite3.Connection, session_id: str, room: _Room) -> _Room:
    """Index the next entries of a session, as many as there is room for; returns what is left of it.

    Raises `Unreadable`.
    """
    state = state_of(connection, session_id)
    if not state.is_titled:
        row = connection.execute(
            "SELECT CAST(title AS TEXT) FROM sessions WHERE session_id = ?", (session_id,)
        ).fetchone()
        index_title(connection, session_id, row[0])
    entries: list[Entry] = []
    count, characters, last = 0, room.characters, state.indexed_to
    following = log_rows(connection, session_id, "seq, CAST(json AS BLOB)", first=last + 1)
    with closing(following):  # as in `forget_some`
        for seq, data in islice(following, room.entries):
            last, count, characters = int(seq), count + 1, characters - len(data)
            try:
                entries.append(decode_entry(data))
            except ValueError:
                _log.warning("Entry %d of session %s is damaged and cannot be recalled.", seq, session_id)
            if characters < 0:
                break
    _index(connection, state, entries, indexed_to=last)
    return _Room(room.entries - max(count, 1), characters)


def _entry_at(connection: sqlite3.Connection, spot: int) -> ContentEntry | None:
    """The entry of a passage as it is in the log; `None` if it is damaged or gone."""
    row = row_of_spot(connection, spot, "CAST(json AS BLOB)")
    try:
        return spoken_entry(decode_entry(row[0])) if row is not None else None
    except ValueError:
        return None


def _passage_rows(spot: int, entry: ContentEntry) -> list[tuple[int, str]]:
    """What stands in the index for the passages of an entry."""
    text = entry_text(entry)
    is_tool = speaker_of(entry) == "tool"
    return [
        (row_id(spot, part, is_tool=is_tool), indexed(text[start:end]))
        for part, (start, end) in enumerate(passage_spans(text))
    ]


def _index(
    connection: sqlite3.Connection, state: State, entries: Sequence[Entry], *, indexed_to: int | None = None
) -> None:
    place = state.places
    put_in(connection, "texts", text_rows(state.number, entries))
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
        put_in(connection, "recall", _passage_rows(spot, spoken))
        is_tool = speaker_of(spoken) == "tool"
        texts = {row_id(spot, part, is_tool=is_tool): text[slice(*span)] for part, span in enumerate(spans)}
        remove_others(connection, rows_of(spot, spot), texts)
    if indexed_to is None:
        indexed_to = entries[-1].seq
    connection.execute(
        "UPDATE recall_sessions SET indexed_to = ?, places = ? WHERE number = ?", (indexed_to, place, state.number)
    )


def _take_out(connection: sqlite3.Connection, state: State, from_seq: int) -> None:
    """Take the entries from `from_seq` on out of both indexes. Raises `Unreadable`."""
    rows = log_rows(connection, state.session_id, "seq, CAST(json AS BLOB)", first=from_seq, last=state.indexed_to)
    with closing(rows):  # as in `forget_some`
        for seq, data in rows:
            try:
                entry = decode_entry(data)
            except ValueError:
                raise Unreadable(f"entry {seq} of session {state.session_id}") from None
            take_out(connection, "texts", text_rows(state.number, [entry]))
    spots = connection.execute(
        "SELECT id FROM passages WHERE id BETWEEN ? AND ? AND seq >= ?", (*spots_of(state.number), from_seq)
    ).fetchall()
    _remove(connection, [spot for (spot,) in spots])
    connection.execute(
        "UPDATE recall_sessions SET indexed_to = min(indexed_to, ?) WHERE number = ?",
        (max(0, from_seq - 1), state.number),
    )


def _remove_turn(connection: sqlite3.Connection, number: int, end: TurnEndEntry) -> None:
    """Take out what no view shows any more: a turn that was replaced, what a broken-off one did not keep.

    The places stay empty; those beside them do not move. Raises `Unreadable`.
    """
    kept_to = 0 if end.outcome == "replaced" else end.kept_to
    spots = connection.execute(
        "SELECT id FROM passages WHERE id BETWEEN ? AND ? AND turn_id = ? AND seq > ?",
        (*spots_of(number), end.turn_id, kept_to),
    ).fetchall()
    _remove(connection, [spot for (spot,) in spots])


def _remove(connection: sqlite3.Connection, spots: Sequence[int]) -> None:
    """Take out the passages at these spots, with their vectors. Raises `Unreadable`."""
    for spot in spots:
        entry = _entry_at(connection, spot)
        if entry is None:
            raise Unreadable(f"the passage {spot}")
        take_out(connection, "recall", _passage_rows(spot, entry))
        remove_vectors(connection, rows_of(spot, spot))
        connection.execute("DELETE FROM passages WHERE id = ?", (spot,))


def _encode_about(about: Remembered) -> int:
    flags = (_QUESTION if about.is_question else 0) | (_TIME if about.names_time else 0)
    return _SPEAKERS.index(about.speaker) | flags
