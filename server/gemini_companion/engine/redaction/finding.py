"""Every secret of a text, by our own patterns and by whatever else looks through it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from gemini_companion.engine.ide_context.secrets import REACH, Secret, find_secrets, mask_secrets, secrets_in
from gemini_companion.engine.ide_context.token_runs import Sifted, sifted
from gemini_companion.engine.redaction.markers import outside_of_markers

Finder: TypeAlias = Callable[[str], Sequence[Secret]]
"""What finds secrets in a text, in time proportional to its length."""

SLICE: Final = 64 * 1024
"""Characters that are looked through at once: other threads get their turn in between, and what takes longer the more
is found has little to find.
"""

_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,16384}+={0,2}+(?![A-Za-z0-9+/_=-])")
"""All of it is within one run of token characters."""
_SHORTEST_ENCODED: Final = 24
_ALL_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]++={0,2}+")
_URL_SAFE: Final = str.maketrans("-_", "+/")


def mask(text: str) -> str:
    """The text with each secret replaced by `[masked: kind]`, for what nobody needs to get back.

    For logs, telemetry and bug reports. Needs no vault; linear in the text's length.
    """
    return mask_secrets(text)[0]


def own_secrets(text: str) -> list[Secret]:
    """Those that our own patterns find, also within base64."""
    sift = sifted(text)
    return [*secrets_in(sift), *_encoded_secrets(sift)]


def is_attached(text: str) -> bool:
    """Whether a text is base64 as a whole, and longer than a secret may be: a picture, a document, an attached file."""
    return len(text) > REACH and _ALL_ENCODED.fullmatch(text) is not None


def is_attached_secret(text: str) -> bool:
    """Whether what is attached is a text that has secrets."""
    decoded = _decoded(text)
    return decoded is not None and bool(all_secrets(decoded))


def all_secrets(text: str, finders: Sequence[Finder] = ()) -> list[Secret]:
    """Every secret in the text, in order and without overlaps; of those that overlap, one covers all.

    `finders` look through it beside our own patterns. A secret is found if it is at most `REACH` characters long.
    """
    found: list[Secret] = []
    if 0 < len(text) <= SLICE:
        found += own_secrets(text)
        for finder in finders:
            found += finder(text)
        return outside_of_markers(text, _merged(found)) if found else found
    for start in range(0, len(text), SLICE):
        base, end = max(0, start - REACH), start + SLICE
        part = text[base : end + REACH]
        for finder in (own_secrets, *finders):
            found += [
                Secret(secret.start + base, secret.end + base, secret.kind)
                for secret in finder(part)
                if secret.end + base > start and secret.start + base < end
            ]
    return outside_of_markers(text, _merged(found))


def _merged(found: list[Secret]) -> list[Secret]:
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if merged and secret.start < merged[-1].end:
            before = merged[-1]
            kind = secret.kind if before.kind == "credential" else before.kind  # the more specific one
            merged[-1] = Secret(before.start, max(before.end, secret.end), kind)
        elif secret.end > secret.start:
            merged.append(secret)
    return merged


def _encoded_secrets(sift: Sifted) -> Iterator[Secret]:
    """Runs of base64 that hold a text with a secret, such as the values of a Kubernetes secret."""
    for start, end in sift.runs:
        if end - start < _SHORTEST_ENCODED:
            continue
        for run in _ENCODED.finditer(sift.text, start, end):
            decoded = _decoded(run[0])
            if decoded is not None and (inside := find_secrets(decoded)):
                yield Secret(run.start(), run.end(), inside[0].kind)


def _decoded(run: str) -> str | None:
    """The text that a run of base64 stands for; `None` if it is none, or not all of it can be shown."""
    plain = run.rstrip("=").translate(_URL_SAFE)
    try:
        head = base64.b64decode(plain[:24])
        if not head.isascii() or not _is_shown(head):  # most runs are names and digests
            return None
        data = base64.b64decode(plain + "=" * (-len(plain) % 4))
        text = data.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text


def _is_shown(data: bytes) -> bool:
    return all(byte >= 32 or byte in (9, 10, 13) for byte in data)
