"""Media by their first bytes, whatever a name or a server says of them."""

from __future__ import annotations

from typing import Final

_BEGINNINGS: Final[tuple[tuple[bytes, int, str], ...]] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"WAVE", 8, "audio/wav"),
    (b"ftypheic", 4, "image/heic"),
    (b"ftypmif1", 4, "image/heif"),
    (b"%PDF-", 0, "application/pdf"),
    (b"ID3", 0, "audio/mp3"),
    (b"fLaC", 0, "audio/flac"),
    (b"OggS", 0, "audio/ogg"),
    (b"AIFF", 8, "audio/aiff"),
    (b"ftypM4A", 4, "audio/mp4"),
)
"""Bytes, where they stand, and the media type."""
_BY_NAME: Final = {
    "bmp": (b"BM", "image/bmp"),
    "mp3": (b"\xff", "audio/mp3"),
    "aac": (b"\xff", "audio/aac"),
}
"""Beginnings so short that the name has to agree."""
_LOOSE: Final[tuple[tuple[bytes, int, frozenset[str]], ...]] = (
    (b"ftyp", 4, frozenset({"image/heic", "image/heif", "audio/mp4"})),
    (b"\xff", 0, frozenset({"audio/mp3", "audio/mpeg", "audio/aac"})),
    (b"AIFC", 8, frozenset({"audio/aiff"})),
)
"""Beginnings that fit to types which somebody names: there are too many kinds of these to tell each by its bytes."""


def media_type(name: str, data: bytes) -> str | None:
    """The media type of a file's bytes; `None` if a model cannot take it."""
    for beginning, at, kind in _BEGINNINGS:
        if data.startswith(beginning, at) and (at != 8 or data.startswith((b"RIFF", b"FORM"))):
            return kind
    known = _BY_NAME.get(extension(name))
    return known[1] if known is not None and data.startswith(known[0]) else None


def extension(name: str) -> str:
    """What stands behind the last dot of a name, in small letters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def agreed_type(said: str, data: bytes) -> str | None:
    """The media type of bytes that are said to have this one: what they are, if that is known; `None` if they cannot be
    what is said.
    """
    found = media_type("", data)
    if found is not None:
        if (found, said) == ("audio/mp3", "audio/mpeg"):
            return said
        return found if found.partition("/")[0] == said.partition("/")[0] else None
    fits = any(said in kinds and data.startswith(beginning, at) for beginning, at, kinds in _LOOSE)
    return said if fits else None
