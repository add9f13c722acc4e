"""The numbers of rows: which part of which entry of which session stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gemini_companion.adapters.storage.log_rows import row_at
from gemini_companion.engine.recall.ranking import PLACE_BITS, spot_of

if TYPE_CHECKING:
    import sqlite3

PART_BITS: Final = 9
TOOL: Final = 1 << (PART_BITS - 1)
_PART: Final = TOOL - 1


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


def row_of_spot(connection: sqlite3.Connection, spot: int, columns: str) -> tuple[Any, ...] | None:
    """`columns` of the entry in the log that stands at a spot; `None` if it is gone."""
    place = connection.execute(
        "SELECT session_id, seq FROM passages JOIN recall_sessions ON number = passages.id >> ? WHERE passages.id = ?",
        (PLACE_BITS, spot),
    ).fetchone()
    if place is None:
        return None
    session_id, seq = place
    return row_at(connection, session_id, seq, columns)
