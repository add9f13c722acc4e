"""Sizes of contents beside the log. They are made of it: what is missing, or belongs to other bytes, is made anew.

A row holds the sizes of many contents, so that they take little room: some ten bytes for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.item import Counted, Measure
from gemini_companion.engine.tokens.counters import RULES_OF_COUNTING
from gemini_companion.sessions.kept_counts import KeptCount

if TYPE_CHECKING:
    import sqlite3

_SMALL: Final = 8_192
"""Bytes of a row that is put together with others when they are many: a turn adds one of a few dozen."""
_MANY_SMALL: Final = 32

_FEWEST: Final = 3
_BARE: Final = 6
"""How many fields of a size are there in any case, and up to the one that may be `None`."""

_Size = Annotated[int, msgspec.Meta(ge=0, le=2**48)]


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    seq: int
    checksum: int
    tokens: _Size
    tool_tokens: _Size = 0
    media_tokens: _Size = 0
    bare_tokens: _Size | None = None
    bare_media: _Size = 0

    @property
    def counted(self) -> Counted:
        bare = None if self.bare_tokens is None else Measure(self.bare_tokens, 0, self.bare_media)
        return Counted(Measure(self.tokens, self.tool_tokens, self.media_tokens), bare)

    @property
    def as_short(self) -> list[int | None]:
        """What is written: without the defaults at the end, which nearly all have."""
        fields = list(msgspec.structs.astuple(self))
        while len(fields) > _FEWEST and not fields[-1] and (fields[-1] is None) == (len(fields) == _BARE):
            fields.pop()
        return fields


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[_Stored])


def read_counts(connection: sqlite3.Connection, session_id: str, checksums: dict[int, int]) -> StoredCounts:
    """What is known of a session's contents, `checksums` being those of their JSON by number.

    What is damaged, of other bytes or of other rules of counting is unknown.
    """
    known: dict[int, Counted] = {}
    for data in _rows(connection, session_id):
        for one in _decoded(data):
            if checksums.get(one.seq) == one.checksum:
                known[one.seq] = one.counted
    return StoredCounts(known, {seq: value for seq, value in checksums.items() if seq not in known})


def save_counts(connection: sqlite3.Connection, session_id: str, counts: Sequence[KeptCount]) -> None:
    """Keep sizes of a session's contents, if it is still there."""
    connection.execute(
        "DELETE FROM sizes WHERE session_id = ? AND rules <> ?",
        (session_id, RULES_OF_COUNTING),
    )
    _insert(connection, session_id, map(_stored, counts))
    small = connection.execute(
        "SELECT rowid, CAST(data AS BLOB) FROM sizes WHERE session_id = ? AND length(data) < ? ORDER BY rowid",
        (session_id, _SMALL),
    ).fetchall()
    if len(small) > _MANY_SMALL:
        newest = {one.seq: one for _, data in small for one in _decoded(data)}
        connection.executemany("DELETE FROM sizes WHERE rowid = ?", [(rowid,) for rowid, _ in small])
        _insert(connection, session_id, newest.values())


def share_counts(connection: sqlite3.Connection, parent: str, session_id: str) -> None:
    """A fork begins with its parent's entries, byte for byte; the checksums tell where that is not so."""
    connection.execute(
        "INSERT INTO sizes (session_id, rules, data) SELECT ?, rules, data FROM sizes WHERE session_id = ?",
        (session_id, parent),
    )


def _insert(connection: sqlite3.Connection, session_id: str, counts: Iterable[_Stored]) -> None:
    connection.execute(
        "INSERT INTO sizes (session_id, rules, data) SELECT session_id, ?, ? FROM sessions WHERE session_id = ?",
        (RULES_OF_COUNTING, _encoder.encode([one.as_short for one in counts]), session_id),
    )


def _rows(connection: sqlite3.Connection, session_id: str) -> Iterator[bytes]:
    rows = connection.execute(
        "SELECT CAST(data AS BLOB) FROM sizes WHERE session_id = ? AND rules = ? ORDER BY rowid",
        (session_id, RULES_OF_COUNTING),
    )
    for (data,) in rows:
        yield data or b""


def _decoded(data: bytes) -> list[_Stored]:
    try:
        return _decoder.decode(data)
    except ValueError:  # damaged: these contents are measured again
        return []


def _stored(kept: KeptCount) -> _Stored:
    (tokens, tool_tokens, media_tokens), bare = kept.counted
    return _Stored(
        kept.seq,
        kept.checksum,
        tokens,
        tool_tokens,
        media_tokens,
        bare.tokens if bare is not None else None,
        bare.media_tokens if bare is not None else 0,
    )
