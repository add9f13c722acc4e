"""Reading entries from the log by their spots, and what clients are told of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.log_rows import log_rows
from gemini_companion.adapters.storage.recall_rows import row_of_spot, spots_of
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.history.hiding import Hiding
from gemini_companion.engine.history.log import CompressionEntry, ContentEntry, Entry, UndoEntry, decode_entry
from gemini_companion.engine.recall.excerpt import beginning
from gemini_companion.engine.recall.passages import entry_text, speaker_of, spoken_entry
from gemini_companion.engine.recall.ranking import PLACE_BITS
from gemini_companion.sessions.recalled import RecallHit

if TYPE_CHECKING:
    import sqlite3

_AS_STORED: Final = Vaulted()
_BESIDE: Final = 2
"""Entries before and after one that are shown beside it."""


class EntryReader:
    """Reads entries from the log by their spots, each session's facts once.

    With `vaulted` as they were said; without it as they are stored, which is what the index is made of.
    """

    def __init__(self, connection: sqlite3.Connection, vaulted: Vaulted | None = None) -> None:
        self._connection = connection
        self._vaulted = vaulted or _AS_STORED
        self._sessions: dict[int, tuple[str, str]] = {}
        """Id and title, by number."""
        self._hiding: dict[int, Hiding] = {}

    def entry(self, spot: int) -> ContentEntry | None:
        """The entry at a spot; `None` if it is damaged or gone."""
        row = row_of_spot(self._connection, spot, "CAST(json AS BLOB), redacted")
        entry = _decoded(self._vaulted.restored(self._connection, *row)) if row is not None else None
        return spoken_entry(entry) if entry is not None else None

    def beside(self, spot: int) -> tuple[list[str], list[str]]:
        """How the entries before and after a spot begin, in order."""
        first, last = spots_of(spot >> PLACE_BITS)
        before = self._connection.execute(
            "SELECT id FROM passages WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT ?", (spot, first, _BESIDE)
        ).fetchall()
        after = self._connection.execute(
            "SELECT id FROM passages WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", (spot, last, _BESIDE)
        ).fetchall()
        return self._beginnings(before[::-1]), self._beginnings(after)

    def hit(
        self,
        spot: int,
        entry: ContentEntry,
        text: str,
        *,
        score: float = 0.0,
        before: tuple[str, ...] = (),
        after: tuple[str, ...] = (),
    ) -> RecallHit:
        """An entry with where it stands."""
        number = spot >> PLACE_BITS
        session_id, title = self._session(number)
        return RecallHit(
            session_id=session_id,
            session_title=title,
            turn_id=entry.turn_id,
            entry_id=entry.id,
            role=speaker_of(entry),
            time=entry.time,
            text=text,
            score=score,
            before=before,
            after=after,
            is_hidden=self._hides(number, session_id).hides(entry.seq),
        )

    def _beginnings(self, rows: Sequence[tuple[int]]) -> list[str]:
        entries = [self.entry(spot) for (spot,) in rows]
        return [beginning(entry_text(entry)) for entry in entries if entry is not None]

    def _session(self, number: int) -> tuple[str, str]:
        if number not in self._sessions:
            row = self._connection.execute(
                "SELECT session_id, CAST(title AS TEXT), redacted FROM recall_sessions JOIN sessions USING (session_id)"
                " WHERE number = ?",
                (number,),
            ).fetchone()
            session_id, title, redacted = row or ("", "", 0)
            self._sessions[number] = session_id, self._vaulted.restored_text(self._connection, title, redacted)
        return self._sessions[number]

    def _hides(self, number: int, session_id: str) -> Hiding:
        if number not in self._hiding:
            rows = log_rows(
                self._connection, session_id, "CAST(json AS BLOB)", condition="type IN ('compression', 'undo')"
            )
            entries = [_decoded(data) for (data,) in rows]
            self._hiding[number] = Hiding(entry for entry in entries if isinstance(entry, CompressionEntry | UndoEntry))
        return self._hiding[number]


def _decoded(data: bytes | str) -> Entry | None:
    try:
        return decode_entry(data)
    except ValueError:
        return None
