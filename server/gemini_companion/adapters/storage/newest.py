"""The end of a log, read backwards: what a long session shows before all of it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.log_rows import log_rows
from gemini_companion.adapters.storage.records import ENTRY_COLUMNS, decoded_rows
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.history.log import ContentEntry, Entry

if TYPE_CHECKING:
    import sqlite3

MOST_BYTES: Final = 4_000_000
"""JSON that is read at most, however few contents it is, and the entry with which it is more."""


def read_newest(connection: sqlite3.Connection, vaulted: Vaulted, session_id: str, contents: int) -> list[Entry]:
    """The newest `contents` contents, all that were logged since the first of them, oldest first; less of huge ones.

    A damaged entry is left out.
    """
    entries: list[Entry] = []
    left, size = contents, 0
    rows = log_rows(connection, session_id, ENTRY_COLUMNS, newest_first=True)
    for entry, raw in decoded_rows(connection, vaulted, session_id, rows, []):
        entries.append(entry)
        left -= isinstance(entry, ContentEntry)
        size += len(raw)
        if left <= 0 or size > MOST_BYTES:
            break
    entries.reverse()
    return entries
