"""Finding sessions by their texts: the full-text index and the queries on it.

SQLite's tokenizer finds words by spaces and punctuation. Scripts that are written without spaces are therefore indexed
as overlapping pairs of characters, so that any run of two or more can be found as a phrase, and any single one as a
prefix.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gemini_companion.engine.history.decode import well_formed
from gemini_companion.engine.history.log import Entry, PinEntry
from gemini_companion.engine.recall.passages import entry_text, spoken_entry
from gemini_companion.engine.recall.words import normal, paired, spaced, unspaced_runs

if TYPE_CHECKING:
    import sqlite3

_MAX_QUERY: Final = 1_000
_MAX_WORDS: Final = 16


def index_entry(connection: sqlite3.Connection, session_id: str, entry: Entry) -> None:
    """Add the entry's text to the index, within the caller's transaction."""
    text = searchable_text(entry)
    if text:
        _index(connection, session_id, entry.seq, text)


def index_title(connection: sqlite3.Connection, session_id: str, title: str) -> None:
    """Put the title into the index, replacing the one before."""
    connection.execute(
        "DELETE FROM texts WHERE rowid IN (SELECT id FROM documents WHERE session_id = ? AND seq = 0)", (session_id,)
    )
    connection.execute("DELETE FROM documents WHERE session_id = ? AND seq = 0", (session_id,))
    if title:
        _index(connection, session_id, 0, title)


def forget(connection: sqlite3.Connection, session_id: str) -> None:
    """Remove a session from the index."""
    connection.execute(
        "DELETE FROM texts WHERE rowid IN (SELECT id FROM documents WHERE session_id = ?)", (session_id,)
    )
    connection.execute("DELETE FROM documents WHERE session_id = ?", (session_id,))


def conditions(query: str) -> tuple[list[str], list[str]]:
    """SQL conditions on `session_id`, to be joined by AND, and their arguments: every word of `query` must occur.

    Whole words are sought, except for the last, of which the beginning is enough; case and accents do not matter.
    """
    words = normal(well_formed(query[:_MAX_QUERY]).replace("\0", " ")).split()[:_MAX_WORDS]
    clauses: list[str] = []
    arguments: list[str] = []
    for index, word in enumerate(words):
        if any(character.isalnum() for character in word):
            test, argument = "texts MATCH ?", _phrase(word, is_last=index == len(words) - 1)
        else:
            test, argument = "body LIKE ? ESCAPE '!'", f"%{re.sub('(?=[%_!])', '!', word)}%"
        clauses.append(
            "session_id IN (SELECT documents.session_id FROM texts JOIN documents ON documents.id = texts.rowid WHERE"
            f" {test})"
        )
        arguments.append(argument)
    return clauses, arguments


def searchable_text(entry: Entry) -> str:
    """An entry's text: prompt or answer, a tool's arguments and results. No thoughts, no attached files."""
    if isinstance(entry, PinEntry):
        return entry.text
    spoken = spoken_entry(entry)
    return entry_text(spoken) if spoken is not None else ""


def _index(connection: sqlite3.Connection, session_id: str, seq: int, text: str) -> None:
    row = connection.execute("INSERT INTO documents (session_id, seq) VALUES (?, ?)", (session_id, seq)).lastrowid
    connection.execute("INSERT INTO texts (rowid, body) VALUES (?, ?)", (row, spaced(text)))


def _phrase(word: str, *, is_last: bool) -> str:
    """The word as a phrase of the index's own tokens, quoted so that nothing in it is an operator."""
    runs = unspaced_runs(word)
    ending = runs[-1][0] if runs and runs[-1].end() == len(word) else ""
    tokens = paired(word).replace('"', " ").strip()
    if len(ending) > 1:
        tokens = tokens[:-2]  # the run may continue in the text, so its last character alone is no token there
    is_prefix = len(ending) == 1 or (is_last and not ending)
    return f'"{tokens}"{" *" if is_prefix else ""}'
