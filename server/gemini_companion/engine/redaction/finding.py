"""Every secret of a text, by our own patterns and by whatever else looks through it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.ide_context.secret_layers import decoded_whole
from gemini_companion.engine.ide_context.secrets import REACH, Finder, Secret, find_secrets, mask_secrets, merged
from gemini_companion.engine.redaction.markers import outside_of_markers

__all__ = ["Finder", "all_secrets", "is_attached", "is_attached_secret", "mask", "own_secrets"]

SLICE: Final = 128 * 1024
"""Characters that are looked through at once: other threads get their turn in between, and what takes longer the more
is found has little to find.
"""

_ALL_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]++={0,2}+")


def mask(text: str) -> str:
    """The text with each secret replaced by `[masked: kind]`, for what nobody needs to get back.

    For logs, telemetry and bug reports. Needs no vault; linear in the text's length.
    """
    return mask_secrets(text)[0]


def own_secrets(text: str) -> list[Secret]:
    """Those that our own patterns find."""
    return find_secrets(text)


def is_attached(text: str) -> bool:
    """Whether a text is base64 as a whole, and longer than a secret may be: a picture, a document, an attached file."""
    return len(text) > REACH and _ALL_ENCODED.fullmatch(text) is not None


def is_attached_secret(text: str, finders: Sequence[Finder] = ()) -> bool:
    """Whether what is attached is a text that has secrets."""
    decoded = decoded_whole(text)
    return decoded is not None and bool(all_secrets(decoded, finders))


def all_secrets(text: str, finders: Sequence[Finder] = ()) -> list[Secret]:
    """Every secret in the text, in order and without overlaps; of those that overlap, one covers all.

    `finders` look through it beside our own patterns. A secret is found if it is at most `REACH` characters long.
    """
    if len(text) <= SLICE:
        found = find_secrets(text, finders)
        return outside_of_markers(text, found) if found else found
    found: list[Secret] = []
    for start in range(0, len(text), SLICE):
        base, end = max(0, start - REACH), start + SLICE
        found += [
            Secret(secret.start + base, secret.end + base, secret.kind)
            for secret in find_secrets(text[base : end + REACH], finders)
            if secret.end + base > start and secret.start + base < end
        ]
    return outside_of_markers(text, merged(found))
