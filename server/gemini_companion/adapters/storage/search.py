"""Finding sessions by their texts: the full-text index and the queries on it.

SQLite's tokenizer finds words by spaces and punctuation. Scripts that are written without spaces are therefore indexed
as overlapping pairs of characters, so that any run of two or more can be found as a phrase, and any single one as a
prefix.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.full_text import put_in, take_out
from gemini_companion.adapters.storage.indexed_sessions import state_of
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.log import Entry, PinEntry, TurnEndEntry, decode_entry
from gemini_companion.engine.recall.passages import entry_text, spoken_entry
from gemini_companion.engine.recall.ranking import PLACE_BITS, spot_of
from gemini_companion.engine.recall.words import normal, paired, spaced, unspaced_runs

if TYPE_CHECKING:
    import sqlite3

_MAX_QUERY: Final = 1_000
_MAX_WORDS: Final = 16
_MOST_ENTRIES: Final = 1 << PLACE_BITS
"""Of one session: more have no numbers in the index."""

_ESCAPED: Final = frozenset('"\\/')
"""Signs that JSON may write with a backslash, beside what cannot be printed."""
_PLAIN_BYTES: Final = bytes((*range(0xC0), 0xC3, 0xD0, 0xD1, *range(0xE4, 0xEA)))
"""What ASCII, accented letters of Latin 1, Cyrillic and the common ideographs have in UTF-8: `normal` leaves these as
they are, in whatever order they stand."""

SAYS: Final = "companion_says"
"""The function in SQL that `teach` gives a connection."""


def index_title(connection: sqlite3.Connection, session_id: str, title: str) -> None:
    """Put a title into the index, in the place of the one that the session has. To be called before that is changed."""
    state = state_of(connection, session_id)
    row = connection.execute("SELECT CAST(title AS TEXT) FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
    place = spot_of(state.number, 0)
    if state.is_titled and row is not None and row[0]:
        take_out(connection, "texts", [(place, spaced(row[0]))])
    if title:
        put_in(connection, "texts", [(place, spaced(title))])
    connection.execute("UPDATE recall_sessions SET titled = 1 WHERE number = ?", (state.number,))


def forget_title(connection: sqlite3.Connection, session_id: str) -> None:
    """Take a session's title out of the index."""
    index_title(connection, session_id, "")
    connection.execute("UPDATE recall_sessions SET titled = 0 WHERE session_id = ?", (session_id,))


def text_rows(number: int, entries: Iterable[Entry]) -> list[tuple[int, str]]:
    """What stands in the index for entries of the session with this number."""
    found = ((entry.seq, searchable_text(entry)) for entry in entries if entry.seq < _MOST_ENTRIES)
    return [(spot_of(number, seq), spaced(text)) for seq, text in found if text]


def conditions(query: str) -> tuple[list[str], list[str]]:
    """SQL conditions on `session_id`, to be joined by AND, and their arguments: every word of `query` must occur.

    Whole words are sought, except for the last, of which the beginning is enough; case and accents do not matter.
    """
    words = normal(well_formed(query[:_MAX_QUERY]).replace("\0", " ")).split()[:_MAX_WORDS]
    clauses: list[str] = []
    arguments: list[str] = []
    for index, word in enumerate(words):
        if any(character.isalnum() for character in word):
            clauses.append(
                "session_id IN (SELECT recall_sessions.session_id FROM recall_sessions WHERE number IN"
                f" (SELECT rowid >> {PLACE_BITS} FROM texts WHERE texts MATCH ?))"
            )
            arguments.append(_phrase(word, is_last=index == len(words) - 1))
        else:  # no tokenizer keeps signs, so the texts themselves are read, up to the first that has it
            clauses.append(
                f"({SAYS}(title, ?) OR EXISTS (SELECT 1 FROM log WHERE log.session_id = sessions.session_id"
                f" AND {SAYS}(json, ?)) OR EXISTS (SELECT 1 FROM shares JOIN log ON log.session_id = owner"
                f" AND seq BETWEEN first AND last WHERE shares.session_id = sessions.session_id AND {SAYS}(json, ?)))"
            )
            arguments += [word, word, word]
    return clauses, arguments


def teach(connection: sqlite3.Connection) -> None:
    """Make `conditions` understood by a connection."""
    connection.create_function(SAYS, 2, _says, deterministic=True)


def _says(source: object, word: str) -> bool:
    """Whether a title, or the entry in a row of the log, has a word that consists of signs."""
    if isinstance(source, str):
        return word in normal(source)
    if not isinstance(source, bytes) or not _may_say(source, word):
        return False
    try:
        return word in normal(searchable_text(decode_entry(source)))
    except ValueError:
        return False


def _may_say(source: bytes, word: str) -> bool:
    """False only if an entry's JSON shows, without being decoded, that it does not have a word of signs."""
    return (
        word.encode() in source
        or b"\\u" in source
        or (b"\\" in source and (not word.isprintable() or not _ESCAPED.isdisjoint(word)))
        or bool(source.translate(None, _PLAIN_BYTES))
    )


def searchable_text(entry: Entry) -> str:
    """An entry's text: prompt or answer, also one that was cut short, a tool's arguments and results. No thoughts, no
    attached files.
    """
    if isinstance(entry, TurnEndEntry):
        return entry.shown.text if entry.shown is not None else ""
    if isinstance(entry, PinEntry):
        return entry.text
    spoken = spoken_entry(entry)
    return entry_text(spoken) if spoken is not None else ""


def _phrase(word: str, *, is_last: bool) -> str:
    """The word as a phrase of the index's own tokens, quoted so that nothing in it is an operator."""
    runs = unspaced_runs(word)
    ending = runs[-1][0] if runs and runs[-1].end() == len(word) else ""
    tokens = paired(word).replace('"', " ").strip()
    if len(ending) > 1:
        tokens = tokens[:-2]  # the run may continue in the text, so its last character alone is no token there
    is_prefix = len(ending) == 1 or (is_last and not ending)
    return f'"{tokens}"{" *" if is_prefix else ""}'
