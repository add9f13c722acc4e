"""Closing bytes with a key of the vault: AES-256-GCM, with the id of the key in front."""

from __future__ import annotations

import hashlib
import hmac
import os
import struct
from collections.abc import Iterable, Iterator
from typing import Final

from gemini_companion.adapters.vault.keys import Key, Keys
from gemini_companion.engine.redaction.markers import ID_LENGTH

MAGIC: Final = b"\x01GCV"
STREAM: Final = b"\x01GCS"
"""How closed bytes begin, and a file of several closed pieces. No JSON, text or zstd frame begins so."""

OUTPUT: Final = "output"
"""What a command's long output is closed for."""

_NONCE: Final = 12
_HEAD: Final = len(MAGIC) + 8 + _NONCE
_LENGTH: Final = struct.Struct(">I")
_MOST: Final = 1 << 30


def is_sealed(data: bytes) -> bool:
    """Whether `seal` made this."""
    return data.startswith(MAGIC)


def seal(data: bytes, key: Key, purpose: str) -> bytes:
    """Close bytes for one purpose: what was closed for another one cannot be put in its place."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(_NONCE)
    closed = AESGCM(_derived(key, b"seal")).encrypt(nonce, data, purpose.encode())
    return MAGIC + bytes.fromhex(key.id) + nonce + closed


def unseal(data: bytes, keys: Keys, purpose: str) -> bytes | None:
    """What was closed; `None` if its key cannot be had, or it is damaged, or was closed for another purpose."""
    if not is_sealed(data) or len(data) <= _HEAD:
        return None
    key = keys.by_id(data[len(MAGIC) : len(MAGIC) + 8].hex())
    if key is None:
        return None
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(_derived(key, b"seal")).decrypt(data[_HEAD - _NONCE : _HEAD], data[_HEAD:], purpose.encode())
    except InvalidTag:
        return None


def name_of(secret: str, key: Key) -> str:
    """The id of a secret: the same for equal ones, and nothing can be told from it without the key."""
    digest = hmac.digest(_derived(key, b"name"), secret.encode("utf-8", "surrogatepass"), "sha256")
    return digest.hex()[:ID_LENGTH]


def mac_of(pieces: Iterable[bytes], key: Key) -> str:
    """A message authentication code, behind the id of its key: nobody without the key makes one for other bytes."""
    code = hmac.new(_derived(key, b"mac"), digestmod="sha256")
    for piece in pieces:
        code.update(piece)
    return f"{key.id}:{code.hexdigest()}"


def is_mac_of(data: bytes, mac: str, keys: Keys) -> bool:
    """Whether `mac_of` made this for these bytes, with one of these keys."""
    key = keys.by_id(mac.partition(":")[0])
    return key is not None and hmac.compare_digest(mac_of([data], key).encode(), mac.encode(errors="replace"))


def framed(piece: bytes) -> bytes:
    """A closed piece as it stands in a stream."""
    return _LENGTH.pack(len(piece)) + piece


def pieces_of(stream: bytes) -> Iterator[bytes]:
    """The closed pieces of a stream; what its writer did not finish is left out."""
    place = len(STREAM)
    while place + _LENGTH.size <= len(stream):
        (length,) = _LENGTH.unpack_from(stream, place)
        place += _LENGTH.size
        if length > _MOST or place + length > len(stream):
            return
        yield stream[place : place + length]
        place += length


def _derived(key: Key, use: bytes) -> bytes:
    return hashlib.sha256(use + b"\0" + key.secret).digest()
