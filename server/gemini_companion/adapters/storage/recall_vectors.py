"""Vectors of passages: made once for each text, compared with a question's. Within the caller's transaction."""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.recall_index import row_id, row_of
from gemini_companion.adapters.storage.recall_reading import EntryReader
from gemini_companion.engine.recall.passages import entry_text, passage_spans, speaker_of
from gemini_companion.sessions.ports import PassageText, Vector

if TYPE_CHECKING:
    import sqlite3

_COMPARED: Final = 20_000
"""Vectors that are compared with a question's, those of the newest sessions first: it takes some 0.2 s."""
_NEAREST: Final = 100
_ENTRIES_AT_ONCE: Final = 50
_SCALE: Final = struct.Struct("<f")
_LARGEST: Final = 127
"""A vector is kept as a scale and a signed byte for each number."""


def passages_without(connection: sqlite3.Connection, model: str) -> list[PassageText] | None:
    """Some of the passages without a vector of this model, the newest first; `None` if there are none left.

    Of those with one text only the first; the others take its vector over when it has one, and the list may be empty
    for that.
    """
    rows = connection.execute(
        "SELECT id, parts FROM passages WHERE parts > (SELECT count(*) FROM vectors WHERE vectors.id BETWEEN"
        " passages.id << 9 AND (passages.id << 9) + 511 AND model = ?) ORDER BY time DESC, id DESC LIMIT ?",
        (model, _ENTRIES_AT_ONCE),
    ).fetchall()
    reader = EntryReader(connection)
    found: dict[str, PassageText] = {}
    for spot, parts in rows:
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
    return list(found.values()) if rows else None


def save(connection: sqlite3.Connection, vectors: Iterable[tuple[PassageText, Vector]]) -> None:
    """Keep the vectors of passages that are still there."""
    for passage, vector in vectors:
        spot = row_of(passage.row).spot
        if connection.execute("SELECT 1 FROM passages WHERE id = ?", (spot,)).fetchone():
            _insert(connection, passage, vector.model, _packed(vector.values))


def nearest(connection: sqlite3.Connection, vector: Vector, rows: tuple[int, int] | None) -> list[tuple[int, int]]:
    """Spots, each with its best part, that are nearest to a question, best first; `rows` bounds what is searched."""
    between, arguments = ("AND id BETWEEN ? AND ?", rows) if rows is not None else ("", ())
    size = _SCALE.size + len(vector.values)
    best: dict[int, tuple[float, int]] = {}
    for row, packed in connection.execute(
        f"SELECT id, vector FROM vectors WHERE model = ? {between} ORDER BY id DESC LIMIT ?",
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
        "SELECT vector FROM vectors WHERE hash = ? AND model = ? LIMIT 1", (_digest(passage.text), model)
    ).fetchone()
    if same is None and passage.text.strip():
        return False
    _insert(connection, passage, model, same[0] if same is not None else b"")
    return True


def _insert(connection: sqlite3.Connection, passage: PassageText, model: str, packed: bytes) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO vectors (id, model, hash, vector) VALUES (?, ?, ?, ?)",
        (passage.row, model, _digest(passage.text), packed),
    )


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _packed(values: Sequence[float]) -> bytes:
    scale = max(map(abs, values), default=0.0) / _LARGEST or 1.0
    return _SCALE.pack(scale) + array("b", (round(value / scale) for value in values)).tobytes()
