"""Forks: the rows that they have in common with the session that they come from are copied as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.vaulted import Row, Vaulted, WrittenEntry
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.engine.history.log import Entry, decode_entry, encode_entry
from gemini_companion.engine.redaction.markers import has_markers

if TYPE_CHECKING:
    import sqlite3

CommonRows = Mapping[int, Row]
"""By number, rows of the parent's that say what the fork's entry of that number says, byte for byte."""

_AT_ONCE: Final = 500
"""Entries that are compared in one go, so that nobody waits long for the store."""


async def common_rows(worker: Worker, vaulted: Vaulted, parent: str, entries: Sequence[Entry]) -> CommonRows:
    """The rows that need not be looked through for secrets again, which is nearly all that a long fork costs.

    Entries are compared by all that they say: nothing is taken over on the strength of an id.
    """
    common: dict[int, Row] = {}
    for start in range(0, len(entries), _AT_ONCE):
        some = entries[start : start + _AT_ONCE]
        common |= await worker.run("read", lambda connection, some=some: _same(connection, vaulted, parent, some))
    return common


def forked_entries(vaulted: Vaulted, entries: Sequence[Entry], common: CommonRows) -> list[WrittenEntry]:
    """A fork's entries as they are written. No part of a transaction.

    The secrets of rows in common are the parent's, which the fork uses too (`vaulted.share_secrets`).
    """
    written: list[WrittenEntry] = []
    for entry in entries:
        row = common.get(entry.seq)
        if row is None:
            written += vaulted.entries([entry])
        else:
            written.append(WrittenEntry(decode_entry(row.data) if has_markers(row.data) else entry, row))
    return written


def _same(connection: sqlite3.Connection, vaulted: Vaulted, parent: str, entries: Sequence[Entry]) -> dict[int, Row]:
    wanted = {entry.seq: entry for entry in entries}
    common: dict[int, Row] = {}
    for seq, data, redacted in connection.execute(
        "SELECT seq, CAST(json AS BLOB), redacted FROM log WHERE session_id = ? AND seq BETWEEN ? AND ?",
        (parent, entries[0].seq, entries[-1].seq),
    ):
        entry = wanted.get(seq)
        if entry is None or not isinstance(data, bytes) or (vaulted.is_on and not redacted):
            continue
        if vaulted.restored(connection, data, redacted) == encode_entry(entry):
            common[seq] = Row(data, redacted)
    return common
