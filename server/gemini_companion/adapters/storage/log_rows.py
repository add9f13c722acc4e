"""Where the entries of a session's log stand: a fork has those that it began with from the session that wrote them.

The table `shares` has, by session, ranges of numbers and who wrote the rows with them: `owner`, whose session may be
gone. Ranges of one session are apart, and what it wrote itself comes behind them; a fork begins with an entry of its
own. Nothing else reads entries of a session from `log`: others ask for the newest number or the room of what a session
wrote itself, and the search for signs joins `shares` in its query.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gemini_companion.adapters.storage.leases import require_session
from gemini_companion.engine.errors import StaleVersion
from gemini_companion.sessions.shared_entries import Ranges

if TYPE_CHECKING:
    import sqlite3

END: Final = 2**63 - 1

_RANGE: Final = "CAST(coalesce(first, 0) AS INTEGER), CAST(coalesce(last, 0) AS INTEGER)"
"""What says where a shared range stands: damage may have made texts or nothing of numbers."""


class Span(NamedTuple):
    """Entries in a row that one session wrote."""

    owner: str
    first: int
    last: int


def spans_of(connection: sqlite3.Connection, session_id: str) -> list[Span]:
    """Where a session's entries stand, in order: first what it shares, then what it wrote itself."""
    (own,) = connection.execute("SELECT min(seq) FROM log WHERE session_id = ?", (session_id,)).fetchone()
    spans: list[Span] = []
    ahead = 1
    for owner, first, last in connection.execute(
        f"SELECT CAST(owner AS TEXT), {_RANGE} FROM shares WHERE session_id = ? ORDER BY 2",
        (session_id,),
    ):
        # Damage may have made other numbers of them: no entry comes twice, and none of its own is hidden.
        span = Span(owner, max(first, ahead), min(last, END - 1 if own is None else int(own) - 1))
        if span.first <= span.last:
            spans.append(span)
            ahead = span.last + 1
    return [*spans, Span(session_id, ahead if own is None else int(own), END)]


def spans_between(connection: sqlite3.Connection, session_id: str, first: int, last: int) -> list[Span]:
    """Where those of a session's entries stand that have these numbers."""
    within = (Span(one.owner, max(one.first, first), min(one.last, last)) for one in spans_of(connection, session_id))
    return [one for one in within if one.first <= one.last]


def log_rows(
    connection: sqlite3.Connection,
    session_id: str,
    columns: str,
    *,
    first: int = 1,
    last: int = END,
    condition: str = "",
    newest_first: bool = False,
) -> Generator[tuple[Any, ...]]:
    """`columns` of a session's entries with these numbers, in order. They are read while the iteration goes on.

    Whoever stops earlier and changes tables then closes it first: one that is being read cannot be removed.
    """
    spans = spans_between(connection, session_id, first, last)
    for span in reversed(spans) if newest_first else spans:
        yield from connection.execute(
            f"SELECT {columns} FROM log WHERE session_id = ? AND seq BETWEEN ? AND ?"
            f" {f'AND {condition}' if condition else ''} ORDER BY seq {'DESC' if newest_first else ''}",
            span,
        )


def row_at(connection: sqlite3.Connection, session_id: str, seq: int, columns: str) -> tuple[Any, ...] | None:
    """`columns` of one entry; `None` if it is gone."""
    return next(log_rows(connection, session_id, columns, first=seq, last=seq), None)


def newest_seq(connection: sqlite3.Connection, session_id: str) -> int:
    """The number of a session's newest entry, 0 for an empty log."""
    row = next(log_rows(connection, session_id, "seq", newest_first=True), None)
    return int(row[0]) if row is not None else 0


def damaged_seqs(connection: sqlite3.Connection, session_id: str) -> list[int]:
    """Numbers of entries that a session lost to damage earlier."""
    found = {
        int(seq) for (seq,) in connection.execute("SELECT seq FROM damaged_entries WHERE session_id = ?", (session_id,))
    }
    for span in spans_of(connection, session_id)[:-1]:
        found.update(
            int(seq)
            for (seq,) in connection.execute(
                "SELECT seq FROM damaged_entries WHERE session_id = ? AND seq BETWEEN ? AND ?", span
            )
        )
    return sorted(found)


def share(
    connection: sqlite3.Connection,
    parent: str,
    session_id: str,
    ranges: Ranges,
    *,
    before: int,
) -> None:
    """Have a session begin with entries of another one, ahead of its own number `before`.

    Raises `SessionNotFound`, `StaleVersion`.
    """
    if not ranges:
        return
    require_session(connection, parent)
    last = ranges[-1][1]
    if not last < before or newest_seq(connection, parent) < last:
        raise StaleVersion("The session that is forked does not have all of that.", hint="Fork it again.")
    spans = [span for first, last in ranges for span in spans_between(connection, parent, first, last)]
    insert_spans(connection, session_id, spans)


def insert_spans(connection: sqlite3.Connection, session_id: str, spans: Sequence[Span]) -> None:
    """Note what a session shares."""
    connection.executemany(
        "INSERT INTO shares (session_id, owner, first, last) VALUES (?, ?, ?, ?)",
        [(session_id, *span) for span in spans],
    )


def sharers_of(connection: sqlite3.Connection, owner: str, first: int, last: int = END) -> list[str]:
    """The sessions that share some of these entries, which `owner` wrote."""
    rows = connection.execute(
        "SELECT DISTINCT session_id FROM shares WHERE owner = ? AND first <= ? AND last >= ? ORDER BY session_id",
        (owner, last, first),
    )
    return [row[0] for row in rows]


def note_lost(connection: sqlite3.Connection, owner: str, first: int) -> None:
    """Have the sessions that share entries from a number on know for themselves which of those were lost to damage."""
    connection.execute(
        "INSERT INTO damaged_entries (session_id, seq, json, redacted)"
        " SELECT shares.session_id, seq, json, redacted FROM damaged_entries JOIN shares ON owner ="
        " damaged_entries.session_id AND seq BETWEEN first AND last WHERE owner = ? AND seq >= ?",
        (owner, first),
    )


def cut_from(connection: sqlite3.Connection, session_id: str, first: int) -> None:
    """Have a session end ahead of an entry, with what it wrote itself, and what others share of that.

    `recall_index.forget` comes before it.
    """
    connection.execute("DELETE FROM log WHERE session_id = ? AND seq >= ?", (session_id, first))
    for column in ("session_id", "owner"):
        connection.execute(f"DELETE FROM shares WHERE {column} = ? AND first >= ?", (session_id, first))
        connection.execute(
            f"UPDATE shares SET last = ? WHERE {column} = ? AND last >= ?", (first - 1, session_id, first)
        )


def leave(connection: sqlite3.Connection, session_id: str) -> None:
    """Remove what a deleted session wrote and shared, but for the rows that forks still have."""
    owners = [span.owner for span in spans_of(connection, session_id)]
    connection.execute("DELETE FROM shares WHERE session_id = ?", (session_id,))
    for owner in dict.fromkeys(owners):
        if connection.execute("SELECT 1 FROM sessions WHERE session_id = ?", (owner,)).fetchone() is None:
            _remove_unshared(connection, owner)


def is_taken(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether a session has this id, or one had it of which others still have rows."""
    return any(
        connection.execute(f"SELECT 1 FROM {table} WHERE {column} = ? LIMIT 1", (session_id,)).fetchone()
        for table, column in (("sessions", "session_id"), ("shares", "owner"))
    )


def heirs(connection: sqlite3.Connection) -> set[str]:
    """The sessions that have rows from such as are gone."""
    return {
        session_id
        for (session_id,) in connection.execute(
            "SELECT session_id FROM shares WHERE owner NOT IN (SELECT session_id FROM sessions)"
        )
    }


def left_by_others(connection: sqlite3.Connection, session_id: str) -> list[Span]:
    """The rows that a session has from such as are gone, but for those that count for an older fork. None of them is
    written any more.
    """
    gone = connection.execute(
        f"SELECT rowid, owner, {_RANGE} FROM shares WHERE session_id = ?"
        " AND owner NOT IN (SELECT session_id FROM sessions)",
        (session_id,),
    ).fetchall()
    spans: list[Span] = []
    for place, owner, first, last in gone:
        older = connection.execute(
            f"SELECT {_RANGE} FROM shares WHERE owner = ? AND rowid < ? ORDER BY 1", (owner, place)
        ).fetchall()
        spans += (Span(owner, *gap) for gap in _gaps(older, first, last))
    return spans


def _remove_unshared(connection: sqlite3.Connection, owner: str) -> None:
    """Remove the rows of a session that is gone which no other one has."""
    shared = connection.execute(f"SELECT {_RANGE} FROM shares WHERE owner = ? ORDER BY 1", (owner,)).fetchall()
    for span in _gaps(shared, 1, END):
        for table in ("log", "damaged_entries"):
            connection.execute(f"DELETE FROM {table} WHERE session_id = ? AND seq BETWEEN ? AND ?", (owner, *span))


def _gaps(ranges: Iterable[tuple[int, int]], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Which of these numbers are in none of the ranges, which are in order of where they begin."""
    ahead = first
    for start, end in (*ranges, (last + 1, last)):
        if ahead < (behind := min(start, last + 1)):
            yield ahead, behind - 1
        ahead = max(ahead, end + 1)
