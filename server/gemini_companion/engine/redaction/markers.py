"""Markers that stand for secrets where something is written, and the way back.

A marker is `[[secret:KIND:ID]]`. What a person or a file wrote like one is escaped by a second colon, so that only what
was made here is ever replaced by a secret. Both are ASCII, which stands in JSON as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.ide_context.secrets import Secret

OPENING: Final = "[[secret:"
_ESCAPED: Final = f"{OPENING}:"
_OPENING_BYTES: Final = OPENING.encode()
_TOKEN: Final = re.compile(rb"\[\[secret:(?::|[a-z0-9-]{1,40}+:([0-9a-f]{32})\]\])")
_WRITTEN: Final = re.compile(r"\[\[secret:[a-z0-9-]{1,40}+:[0-9a-f]{32}\]\]")
_NO_KIND: Final = re.compile(r"[^a-z0-9]++")

ID_LENGTH: Final = 32
"""Hexadecimal digits of an id."""


def marker(kind: str, secret_id: str) -> str:
    """What stands for a secret. `kind` is any short name of it."""
    plain = _NO_KIND.sub("-", kind.lower()).strip("-")[:40] or "secret"
    return f"[[secret:{plain}:{secret_id}]]"


def escaped(text: str) -> str:
    """The text so that nothing in it is a marker."""
    return text.replace(OPENING, _ESCAPED)


def replaced(text: str, secrets: Sequence[Secret], stand_in: Callable[[str, str], str]) -> str:
    """The text with what `stand_in` gives for each secret and its kind; everything else is escaped.

    `secrets` are in order and do not overlap.
    """
    pieces: list[str] = []
    done = 0
    for secret in secrets:
        pieces += [escaped(text[done : secret.start]), stand_in(text[secret.start : secret.end], secret.kind)]
        done = secret.end
    return "".join([*pieces, escaped(text[done:])])


def outside_of_markers(text: str, secrets: Sequence[Secret]) -> list[Secret]:
    """Those that are no part of a marker that stands in the text, as in an export that was read again."""
    if OPENING not in text:
        return list(secrets)
    spans = [found.span() for found in _WRITTEN.finditer(text)]
    starts = [start for start, _ in spans]

    def is_outside(one: Secret) -> bool:
        number = bisect_right(starts, one.start) - 1
        return number < 0 or one.end > spans[number][1]

    return [one for one in secrets if is_outside(one)]


def has_markers(data: bytes) -> bool:
    """True if something in these bytes is a marker, or escaped."""
    return _OPENING_BYTES in data


def ids_in(data: bytes) -> list[str]:
    """The ids of all markers, each once."""
    return list(dict.fromkeys(found[1].decode() for found in _TOKEN.finditer(data) if found[1] is not None))


def restored(data: bytes, secret_of: Callable[[str], str | None], *, in_json: bool) -> bytes:
    """The bytes with the secret for each marker whose id has one, and what was escaped as it was.

    `in_json` writes the secrets as they stand within a JSON text.
    """

    def back(found: re.Match[bytes]) -> bytes:
        if found[1] is None:
            return _OPENING_BYTES
        secret = secret_of(found[1].decode())
        if secret is None:
            return found[0]
        return msgspec.json.encode(secret)[1:-1] if in_json else secret.encode("utf-8", "surrogatepass")

    return _TOKEN.sub(back, data)
