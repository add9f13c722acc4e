"""Session files in pieces: while one call writes or redacts a whole long file, nothing else of the process runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec

AT_ONCE: Final = 500
"""Entries or contents that are written in one call, which takes some milliseconds."""

Redact: TypeAlias = Callable[[bytes], bytes]
"""A JSON document as it may leave this machine."""
Vouch: TypeAlias = Callable[[Iterable[bytes]], str | None]
"""What says of a document's bytes that they were written here; `None` if nothing can."""


def _as_it_is(document: bytes) -> bytes:
    return document


class Piece(NamedTuple):
    """The next bytes of a file."""

    before: bytes
    """Stands ahead of the document, as it is."""
    document: bytes = b""
    """JSON, whose secrets are still there; none if empty."""
    finished: Callable[[bytes], bytes] = _as_it_is
    """The bytes of the file for the document."""


def items(
    values: Sequence[object], between: bytes = b",", finished: Callable[[bytes], bytes] | None = None
) -> Iterator[Piece]:
    """The items of a JSON array as pieces, without its brackets."""
    for start in range(0, len(values), AT_ONCE):
        document = msgspec.json.encode(values[start : start + AT_ONCE])
        yield Piece(between if start else b"", document, finished or _without_brackets)


def _without_brackets(array: bytes) -> bytes:
    return array[1:-1]


def text_of(pieces: Iterable[Piece], redact: Redact = _as_it_is, vouch: Vouch | None = None) -> list[str]:
    """The file's text, in pieces. With `vouch` it is one JSON object, which gets a field `mac` if secrets left it."""
    written: list[bytes] = []
    is_changed = False
    for piece in pieces:
        redacted = redact(piece.document) if piece.document else b""
        is_changed = is_changed or (redacted is not piece.document and redacted != piece.document)
        written.append(piece.before + (piece.finished(redacted) if piece.document else b""))
    mac = vouch(written) if vouch is not None and is_changed else None
    if mac is not None:
        written[-1] = written[-1].removesuffix(b"}") + b',"mac":' + msgspec.json.encode(mac) + b"}"
    return [one.decode() for one in written]
