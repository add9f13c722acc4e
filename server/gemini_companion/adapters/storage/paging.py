"""Cursors of a listing: opaque to clients, and untrusted when they come back."""

from __future__ import annotations

import base64
import binascii

import msgspec

from gemini_companion.engine.errors import InvalidInput


class _Position(msgspec.Struct, frozen=True, array_like=True):
    updated_at: int
    session_id: str


def encode_cursor(updated_at: int, session_id: str) -> str:
    """The cursor of the page after this session."""
    return base64.urlsafe_b64encode(msgspec.json.encode(_Position(updated_at, session_id))).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[int, str]:
    """The arguments of `encode_cursor`. Raises `InvalidInput` for any other text."""
    try:
        data = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        position = msgspec.json.decode(data, type=_Position)
    except (binascii.Error, ValueError):
        position = None
    if position is None or abs(position.updated_at) >= 2**63:
        raise InvalidInput("The cursor is none that a listing gave.", path="$.cursor", hint="List again without it.")
    return position.updated_at, position.session_id
