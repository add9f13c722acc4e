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
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.decode import well_formed
from gemini_companion.engine.history.log import Entry, PinEntry
from gemini_companion.engine.recall.passages import entry_text, spoken_entry
from gemini_companion.engine.recall.ranking import PLACE_BITS, spot_of
from gemini_companion.engine.recall.words import normal, paired, spaced, unspaced_runs

if TYPE_CHECKING:
    import sqlite3

_MAX_QUERY: Final = 1_000
_MAX_WORDS: Final = 16
_SOME_WORDS: Final = "Give a word with a letter or a digit."
_MOST_ENTRIES: Final = 1 << PLACE_BITS
"""Of one session: more have no numbers in the index."""


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

    Whole words are sought, except for the last, of which the beginning is enough; case and accents do not matter, and
    neither do signs, of which no index knows: reading every text for one would take all others' time. Raises
    `InvalidInput` where there is nothing but signs.
    """
    said = normal(well_formed(query[:_MAX_QUERY]).replace("\0", " ")).split()
    words = [word for word in said if any(map(str.isalnum, word))][:_MAX_WORDS]
    if said and not words:
        raise InvalidInput("There is nothing to look for: chats are found by words.", path="$.query", hint=_SOME_WORDS)
    clause = (
        "session_id IN (SELECT recall_sessions.session_id FROM recall_sessions WHERE number IN"
        f" (SELECT rowid >> {PLACE_BITS} FROM texts WHERE texts MATCH ?))"
    )
    phrases = [_phrase(word, is_last=index == len(words) - 1) for index, word in enumerate(words)]
    return [clause] * len(words), phrases


def searchable_text(entry: Entry) -> str:
    """An entry's text: prompt or answer, a tool's arguments and results. No thoughts, no attached files."""
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
