"""Finding sessions by their texts: the full-text index and the queries on it.

SQLite's tokenizer finds words by spaces and punctuation. Scripts that are written without spaces are therefore indexed
as overlapping pairs of characters, so that any run of two or more can be found as a phrase, and any single one as a
prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from gemini_companion.engine.facts.sentences import pieces
from gemini_companion.engine.history.decode import well_formed
from gemini_companion.engine.history.log import Entry, PinEntry, PromptEntry, ReplyEntry, ToolResultEntry
from gemini_companion.engine.history.part import call_of, is_thought, response_of, response_text, text_of

if TYPE_CHECKING:
    import sqlite3

_AT_ONCE: Final = 1_000
"""Characters that are normalised in one go."""
_MAX_QUERY: Final = 1_000
_MAX_WORDS: Final = 16

_UNSPACED: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese syllables
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
    "\uac00-\ud7af"  # Korean, whose words carry their particles
)


@cache
def _unspaced() -> re.Pattern[str]:
    """A run of characters of scripts without spaces. Compiled when first needed: that takes longer than the import."""
    return re.compile(f"[{_UNSPACED}]+")


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
    words = _normal(well_formed(query[:_MAX_QUERY]).replace("\0", " ")).split()[:_MAX_WORDS]
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
    if not isinstance(entry, PromptEntry | ReplyEntry | ToolResultEntry):
        return ""
    parts = entry.own_parts if isinstance(entry, PromptEntry) else entry.content.parts
    return "\n".join(text for part in parts for text in _texts_of(part))


def _texts_of(part: dict[str, Any]) -> Iterator[str]:
    text = text_of(part)
    if text and not is_thought(part):
        yield text
    if call := call_of(part):
        yield from _strings([call.get("name"), call.get("args")])
    if response := response_of(part):
        yield response_text(response) or "\n".join(_strings([response.get("response")]))


def _strings(values: list[Any]) -> Iterator[str]:
    """Every string in a JSON value, in order."""
    pending = values[::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending.extend(reversed(list(cast("dict[str, Any]", value).values())))
        elif isinstance(value, list):
            pending.extend(reversed(cast("list[Any]", value)))


def spaced(text: str) -> str:
    """`text` as a tokenizer that knows words by spaces should get it: scripts without them as overlapping pairs."""
    return _unspaced().sub(_pairs, _normal(text))


def _index(connection: sqlite3.Connection, session_id: str, seq: int, text: str) -> None:
    row = connection.execute("INSERT INTO documents (session_id, seq) VALUES (?, ?)", (session_id, seq)).lastrowid
    connection.execute("INSERT INTO texts (rowid, body) VALUES (?, ?)", (row, spaced(text)))


def _normal(text: str) -> str:
    """Compatibility forms, such as full-width letters, as plain ones, so that either form finds the other."""
    if text.isascii():
        return text
    import unicodedata

    # In pieces: a long run of combining marks costs the square of its length, and nothing else runs meanwhile.
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces(text, _AT_ONCE))


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(run[index : index + 2] for index in range(len(run)))} "


def _phrase(word: str, *, is_last: bool) -> str:
    """The word as a phrase of the index's own tokens, quoted so that nothing in it is an operator."""
    runs = list(_unspaced().finditer(word))
    ending = runs[-1][0] if runs and runs[-1].end() == len(word) else ""
    tokens = _unspaced().sub(_pairs, word).replace('"', " ").strip()
    if len(ending) > 1:
        tokens = tokens[:-2]  # the run may continue in the text, so its last character alone is no token there
    is_prefix = len(ending) == 1 or (is_last and not ending)
    return f'"{tokens}"{" *" if is_prefix else ""}'
