"""Cursors of a listing: opaque to clients, and hostile when they come back."""

from __future__ import annotations

import base64
import binascii

import msgspec

from gemini_companion.engine.errors import InvalidInput


class _Place(msgspec.Struct, frozen=True, array_like=True):
    updated_at: int
    session_id: str


def encode_cursor(updated_at: int, session_id: str) -> str:
    """The cursor that goes on after this session."""
    return base64.urlsafe_b64encode(msgspec.json.encode(_Place(updated_at, session_id))).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[int, str]:
    """What `encode_cursor` was given. Raises `InvalidInput` for anything that it did not make."""
    try:
        data = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        place = msgspec.json.decode(data, type=_Place)
    except (binascii.Error, ValueError):
        place = None
    if place is None or abs(place.updated_at) >= 2**63:
        raise InvalidInput("The cursor is none that a listing gave.", path="$.cursor", hint="List again without it.")
    return place.updated_at, place.session_id
