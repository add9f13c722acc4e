"""Vectors of passages: made once for each text, compared with a question's. Within the caller's transaction."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.kept_vectors import digest
from gemini_companion.adapters.storage.recall_reading import EntryReader
from gemini_companion.adapters.storage.recall_rows import row_id, row_of
from gemini_companion.engine.recall.passages import entry_text, passage_spans, speaker_of
from gemini_companion.sessions.recall_store import PassageText, Vector

if TYPE_CHECKING:
    import sqlite3

_COMPARED: Final = 20_000
"""Vectors that are compared with a question's, those of the newest sessions first: it takes some 0.2 s."""
_NEAREST: Final = 100
_LOOKED_UP: Final = 5_000
"""Spots without a vector that are noted at once: to find them, all that was ever said is looked through."""
_SCALE: Final = struct.Struct("<f")
_LARGEST: Final = 127
"""A vector is kept as a scale and a signed byte for each number."""


def spots_without(connection: sqlite3.Connection, model: str) -> list[int]:
    """Spots of which not every passage has a vector of this model, the newest last; of many the newest alone."""
    rows = connection.execute(
        "SELECT id FROM passages WHERE parts > (SELECT count(*) FROM vectors WHERE vectors.id BETWEEN"
        " passages.id << 9 AND (passages.id << 9) + 511 AND model = ?) ORDER BY time DESC, id DESC LIMIT ?",
        (model, _LOOKED_UP),
    )
    return [int(spot) for (spot,) in rows][::-1]


def passages_without(connection: sqlite3.Connection, model: str, spots: Sequence[int]) -> list[PassageText]:
    """The passages at these spots without a vector of this model, in the order of the spots.

    Of those with one text only the first; the others take its vector over when it has one, and the list may be empty
    for that.
    """
    marks = ", ".join("?" * len(spots))
    parts_at = dict(connection.execute(f"SELECT id, parts FROM passages WHERE id IN ({marks})", spots).fetchall())
    reader = EntryReader(connection)
    found: dict[str, PassageText] = {}
    for spot in (spot for spot in spots if spot in parts_at):  # some may be gone since they were noted
        parts = parts_at[spot]
        entry = reader.entry(spot)
        text = entry_text(entry) if entry is not None else ""
        spans = passage_spans(text)
        for part, (start, end) in enumerate(spans):
            row = row_id(spot, part, is_tool=entry is not None and speaker_of(entry) == "tool")
            passage = PassageText(row=row, text=text[start:end])
            if not _has_vector(connection, model, passage):
                found.setdefault(passage.text, passage)
        if len(spans) != parts:  # damaged since then: what is gone can have no vector
            connection.execute("UPDATE passages SET parts = ? WHERE id = ?", (len(spans), spot))
    return list(found.values())


def save(connection: sqlite3.Connection, vectors: Iterable[tuple[PassageText, Vector]]) -> None:
    """Keep the vectors of passages that are still there, with the text of which the vector was made.

    While it was fetched, its row may have become another passage's: numbers of deleted sessions are given again.
    """
    reader = EntryReader(connection)
    texts: dict[int, list[str]] = {}
    for passage, vector in vectors:
        spot, part, _ = row_of(passage.row)
        if spot not in texts:
            entry = reader.entry(spot)
            text = entry_text(entry) if entry is not None else ""
            texts[spot] = [text[start:end] for start, end in passage_spans(text)]
        if texts[spot][part : part + 1] == [passage.text]:
            _insert(connection, passage, vector.model, _packed(vector.values))


def nearest(connection: sqlite3.Connection, vector: Vector, rows: tuple[int, int] | None) -> list[tuple[int, int]]:
    """Spots, each with its best part, that are nearest to a question, best first; `rows` bounds what is searched."""
    between, arguments = ("AND id BETWEEN ? AND ?", rows) if rows is not None else ("", ())
    size = _SCALE.size + len(vector.values)
    best: dict[int, tuple[float, int]] = {}
    for row, packed in connection.execute(
        f"SELECT id, CAST(vector AS BLOB) FROM vectors WHERE model = ? {between} ORDER BY id DESC LIMIT ?",
        (vector.model, *arguments, _COMPARED),
    ):
        if len(packed) != size:
            continue
        (scale,) = _SCALE.unpack_from(packed)
        score = scale * sum(map(mul, vector.values, memoryview(packed)[_SCALE.size :].cast("b")))
        spot, part, _ = row_of(row)
        if spot not in best or score > best[spot][0]:
            best[spot] = score, part
    order = sorted(best, key=lambda spot: (-best[spot][0], -spot))[:_NEAREST]
    return [(spot, best[spot][1]) for spot in order]


def _has_vector(connection: sqlite3.Connection, model: str, passage: PassageText) -> bool:
    """True if the passage has one, or gets one now: another's of the same text, or none at all for a blank one."""
    known = connection.execute("SELECT 1 FROM vectors WHERE id = ? AND model = ?", (passage.row, model)).fetchone()
    if known:
        return True
    same = connection.execute(
        "SELECT CAST(vector AS BLOB) FROM vectors WHERE hash = ? AND model = ? LIMIT 1", (digest(passage.text), model)
    ).fetchone()
    if same is None and passage.text.strip():
        return False
    _insert(connection, passage, model, same[0] if same is not None else b"")
    return True


def _insert(connection: sqlite3.Connection, passage: PassageText, model: str, packed: bytes) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO vectors (id, model, hash, vector) VALUES (?, ?, ?, ?)",
        (passage.row, model, digest(passage.text), packed),
    )


def _packed(values: Sequence[float]) -> bytes:
    scale = max(map(abs, values), default=0.0) / _LARGEST or 1.0
    return _SCALE.pack(scale) + array("b", (round(value / scale) for value in values)).tobytes()
