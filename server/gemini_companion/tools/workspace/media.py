"""Files that a model looks at or listens to: told by their first bytes, whatever their name says."""

from __future__ import annotations

import base64
from typing import Final

from gemini_companion.engine.history.content import Part
from gemini_companion.tools.ports import FileBytes, Place
from gemini_companion.tools.tool import ToolRefusal

MAX_BYTES: Final = 10 * 1024 * 1024
"""A request takes 20 MB, and media grow by a third in it."""

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
NAMES: Final = frozenset(
    (
        "png",
        "jpg",
        "jpeg",
        "gif",
        "webp",
        "heic",
        "heif",
        "bmp",
        "pdf",
        "wav",
        "mp3",
        "aac",
        "flac",
        "ogg",
        "aiff",
        "m4a",
    )
)
"""Extensions of such files."""


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


def media_part(place: Place, kind: str, disk: FileBytes) -> Part:
    """The part of a request that carries it. Raises `ToolRefusal` if it is too large."""
    if disk.size > MAX_BYTES:
        raise ToolRefusal(
            f"{place.shown} ({kind}) has {disk.size / 1024**2:.1f} MB; at most {MAX_BYTES // 1024**2} MB can be shown."
        )
    return {"inlineData": {"mimeType": kind, "data": base64.b64encode(disk.data).decode()}}
