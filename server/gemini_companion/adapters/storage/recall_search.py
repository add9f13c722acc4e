"""Searching the index for recall, on a connection that is only read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple

from gemini_companion.adapters.storage.leases import require_session
from gemini_companion.adapters.storage.recall_index import decode_about
from gemini_companion.adapters.storage.recall_reading import EntryReader
from gemini_companion.adapters.storage.recall_rows import PART_BITS, TOOL, row_of, rows_of, spots_of
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.recall.excerpt import excerpt
from gemini_companion.engine.recall.passages import entry_text, passage_spans
from gemini_companion.engine.recall.query import RecallQuery
from gemini_companion.engine.recall.ranking import (
    PLACE_BITS,
    WEIGHED,
    Known,
    Posting,
    apart,
    fused,
    once,
    ordered,
    score_spots,
    weigh,
)
from gemini_companion.sessions.recalled import RecallHit

if TYPE_CHECKING:
    import sqlite3

_ROWS_OF_A_WORD: Final = 500
_FETCHED: Final = 3 * WEIGHED
"""Spots that are looked up: many of the best are those of tools, or of nothing, beside a turn that a word found."""
_FUSED: Final = 100
"""How many of the best by words and by meaning are brought together."""


class Found(NamedTuple):
    """A turn that was found: where, how well, and which of its parts has most of the words."""

    spot: int
    score: float
    part: int


def search(
    connection: sqlite3.Connection,
    query: RecallQuery,
    *,
    session_id: str | None = None,
    limit: int = 10,
    dense: Sequence[tuple[int, int]] = (),
) -> list[Found]:
    """The best turns for a question, neighbours of better ones left out. `dense` has spots and parts by meaning, best
    first. Raises `SessionNotFound`.
    """
    rows = rows_of_session(connection, session_id)
    by_row: dict[int, float] = {}
    by_word = [_postings(connection, word, rows, by_row) for word in query.words]
    by_phrase = [_postings(connection, phrase, rows, by_row) for phrase in query.phrases]
    scores = score_spots(by_word, by_phrase)
    heard = {posting.spot for postings in (*by_word, *by_phrase) for posting in postings}
    likely = nlargest(_FETCHED, scores, key=lambda spot: (scores[spot], spot))
    known = look_up(connection, likely)
    wanted = [spot for spot in likely if spot in known][:WEIGHED]
    weighed = weigh(query, scores, {spot: known[spot] for spot in wanted}, heard)
    order = ordered(weighed, known)
    if dense:
        weighed = fused(order[:_FUSED], [spot for spot, _ in dense[:_FUSED]])
        known = known | look_up(connection, [spot for spot in weighed if spot not in known])
        order = ordered({spot: score for spot, score in weighed.items() if spot in known}, known)
    best = apart(once(order, known), limit)
    parts = {**dict(dense), **_best_parts(by_row, set(best))}
    return [Found(spot, weighed[spot], parts.get(spot, 0)) for spot in best]


def look_up(connection: sqlite3.Connection, spots: Sequence[int]) -> dict[int, Known]:
    """What is known of the spots at which there is something."""
    marks = ", ".join("?" * len(spots))
    rows = connection.execute(f"SELECT id, time, about, entry_id FROM passages WHERE id IN ({marks})", spots)
    return {spot: Known(time, decode_about(about), entry_id) for spot, time, about, entry_id in rows}


def hits(
    connection: sqlite3.Connection, found: Iterable[Found], words: Sequence[str], vaulted: Vaulted | None = None
) -> list[RecallHit]:
    """What was found as clients get it. One whose session went meanwhile, or whose entry is damaged, is left out."""
    reader = EntryReader(connection, vaulted)
    listed: list[RecallHit] = []
    for each in found:
        entry = reader.entry(each.spot)
        if entry is None:
            continue
        text = entry_text(entry)
        spans = passage_spans(text)
        start, end = spans[min(each.part, len(spans) - 1)] if spans else (0, len(text))
        before, after = reader.beside(each.spot)
        listed.append(
            reader.hit(
                each.spot,
                entry,
                excerpt(text[start:end], words),
                score=round(each.score, 4),
                before=tuple(before),
                after=tuple(after),
            )
        )
    return listed


def whole(
    connection: sqlite3.Connection,
    *,
    session_id: str | None = None,
    turn_id: str | None,
    entry_id: str | None,
    vaulted: Vaulted | None = None,
) -> list[RecallHit]:
    """All that was said in a turn, or one entry, whole and in order; of one session, where forks have it too.

    Raises `SessionNotFound`.
    """
    conditions: list[str] = []
    arguments: list[str | int] = []
    if session_id is not None:
        conditions.append("id BETWEEN ? AND ?")
        arguments += _spots_of_session(connection, session_id)
    for column, value in (("turn_id", turn_id), ("entry_id", entry_id)):
        if value is not None:
            conditions.append(f"{column} = ?")
            arguments.append(value)
    spots = [
        spot
        for (spot,) in connection.execute(
            f"SELECT id FROM passages WHERE {' AND '.join(conditions)} ORDER BY id", arguments
        )
    ]
    spots = [spot for spot in spots if spot >> PLACE_BITS == spots[0] >> PLACE_BITS]
    reader = EntryReader(connection, vaulted)
    read = [(spot, reader.entry(spot)) for spot in spots]
    return [reader.hit(spot, entry, entry_text(entry)) for spot, entry in read if entry is not None]


def _postings(
    connection: sqlite3.Connection, words: str, rows: tuple[int, int] | None, by_row: dict[int, float]
) -> list[Posting]:
    """The turns that have a word, or words in a row, each with its best part's score; `by_row` sums up all scores."""
    between, arguments = ("AND rowid BETWEEN ? AND ?", rows) if rows is not None else ("", ())
    found: list[Posting] = []
    seen: set[int] = set()
    for rowid, rank in connection.execute(
        f"SELECT rowid, rank FROM recall WHERE recall MATCH ? {between} ORDER BY rank LIMIT ?",
        (_quoted(words), *arguments, _ROWS_OF_A_WORD),
    ):
        by_row[rowid] = by_row.get(rowid, 0.0) - rank
        spot = rowid >> PART_BITS
        if spot not in seen:  # the first row of a spot is its best
            seen.add(spot)
            found.append(Posting(spot, -rank, bool(rowid & TOOL)))
    return found


def _quoted(words: str) -> str:
    """Plain words for FTS5, so that nothing in them is an operator. One character of a script without spaces is the
    beginning of a pair.
    """
    is_single = len(words) == 1 and not words.isascii()
    return f'"{words.replace(chr(34), " ")}"{" *" if is_single else ""}'


def _best_parts(by_row: Mapping[int, float], spots: set[int]) -> dict[int, int]:
    """By spot the part that has most of the words, the first of equals."""
    best: dict[int, tuple[float, int]] = {}
    for rowid, score in by_row.items():
        spot = rowid >> PART_BITS
        if spot in spots:
            part = row_of(rowid).part
            best[spot] = max(best.get(spot, (score, -part)), (score, -part))
    return {spot: -part for spot, (_, part) in best.items()}


def _spots_of_session(connection: sqlite3.Connection, session_id: str) -> tuple[int, int]:
    """The first and the last spot of a session; none if it is not indexed. Raises `SessionNotFound`."""
    require_session(connection, session_id)
    row = connection.execute("SELECT number FROM recall_sessions WHERE session_id = ?", (session_id,)).fetchone()
    return spots_of(int(row[0])) if row is not None else (1, 0)


def rows_of_session(connection: sqlite3.Connection, session_id: str | None) -> tuple[int, int] | None:
    """The first and the last row of a session, `None` for all sessions. Raises `SessionNotFound`."""
    return None if session_id is None else rows_of(*_spots_of_session(connection, session_id))
