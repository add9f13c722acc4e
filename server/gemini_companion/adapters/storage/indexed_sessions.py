"""How far each session is in the full-text indexes. Every function runs within the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import sqlite3

_LAST_NUMBER: Final = 2**29
"""Of a session; with a spot and a part it still is a number of SQLite's, and so are those that come next."""


_NEWEST: Final = (
    "coalesce((SELECT max(seq) FROM log WHERE log.session_id = {0}.session_id),"
    " (SELECT max(seq) FROM shares JOIN log ON log.session_id = owner AND seq BETWEEN first AND last"
    " WHERE shares.session_id = {0}.session_id), 0)"
)
"""The number of a session's newest entry: the newest that it wrote, or shares if it lost all of those to damage."""


class State(NamedTuple):
    """A session's part of the indexes."""

    session_id: str
    number: int
    """What stands for the session in the numbers of rows."""
    indexed_to: int
    """The newest entry that is in them; 0 for none. All before it are, but for those that were damaged then."""
    places: int
    """The last place of a passage that was given away."""
    is_titled: bool
    """Whether its title is in them."""


def state_of(connection: sqlite3.Connection, session_id: str) -> State:
    """How far a session is indexed; noted with the first question."""
    known = known_state(connection, session_id)
    if known is not None:
        return known
    connection.execute("INSERT INTO recall_sessions (session_id, indexed_to, places) VALUES (?, 0, 0)", (session_id,))
    return state_of(connection, session_id)


def known_state(connection: sqlite3.Connection, session_id: str) -> State | None:
    """How far a session is indexed; `None` if nothing is noted of it."""
    row = connection.execute(
        "SELECT number, indexed_to, places, titled FROM recall_sessions WHERE session_id = ?", (session_id,)
    ).fetchone()
    return None if row is None else State(session_id, int(row[0]), int(row[1]), int(row[2]), bool(row[3]))


def sessions_behind(connection: sqlite3.Connection, session_id: str | None = None) -> list[str]:
    """The sessions with something that is not indexed, the newest first; with `session_id` only that one counts."""
    where, arguments = ("sessions.session_id = ? AND", (session_id,)) if session_id is not None else ("", ())
    rows = connection.execute(
        "SELECT sessions.session_id FROM sessions LEFT JOIN recall_sessions USING (session_id)"
        f" WHERE {where} (coalesce(indexed_to, 0) < {_NEWEST.format('sessions')}"
        " OR coalesce(titled, 0) = 0) ORDER BY updated_at DESC",
        arguments,
    )
    return [row[0] for row in rows]


def can_be(connection: sqlite3.Connection) -> bool:
    """Whether what is noted can be at all: damage makes numbers of which no row can be made, or that are none."""
    return not connection.execute(
        "SELECT EXISTS (SELECT 1 FROM recall_sessions WHERE number NOT BETWEEN 1 AND ?"
        " OR typeof(indexed_to) <> 'integer' OR typeof(places) <> 'integer'"
        f" OR indexed_to > {_NEWEST.format('recall_sessions')})",
        (_LAST_NUMBER,),
    ).fetchone()[0]


def newest_of_noted() -> str:
    """A query for the sessions that are indexed further than their log goes, and where that ends."""
    newest = _NEWEST.format("recall_sessions")
    return (
        f"SELECT session_id, number, {newest} AS newest FROM recall_sessions"
        f" WHERE typeof(indexed_to) = 'integer' AND number BETWEEN 1 AND {_LAST_NUMBER} AND indexed_to > {newest}"
    )


def remove_impossible(connection: sqlite3.Connection) -> None:
    """Remove what is noted under numbers that cannot be."""
    connection.execute("DELETE FROM recall_sessions WHERE number NOT BETWEEN 1 AND ?", (_LAST_NUMBER,))


def has_gone(connection: sqlite3.Connection) -> bool:
    """Whether something is noted of a session that is gone, without its words having been taken out of the indexes."""
    return bool(
        connection.execute(
            "SELECT EXISTS (SELECT 1 FROM recall_sessions WHERE session_id NOT IN (SELECT session_id FROM sessions))"
        ).fetchone()[0]
    )
