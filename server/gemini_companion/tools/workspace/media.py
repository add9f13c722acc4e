"""Files that a model looks at or listens to: told by their first bytes, whatever their name says."""

from __future__ import annotations

import base64
from typing import Final

from gemini_companion.engine.history.content import Part
from gemini_companion.tools.ports import FileBytes, Place
from gemini_companion.tools.tool import ToolRefusal

MAX_BYTES: Final = 10 * 1024 * 1024
"""A request takes 20 MB, and media grow by a third in it."""

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


def media_part(place: Place, kind: str, disk: FileBytes) -> Part:
    """The part of a request that carries it. Raises `ToolRefusal` if it is too large."""
    if disk.size > MAX_BYTES:
        raise ToolRefusal(
            f"{place.shown} ({kind}) has {disk.size / 1024**2:.1f} MB; at most {MAX_BYTES // 1024**2} MB can be shown."
        )
    return {"inlineData": {"mimeType": kind, "data": base64.b64encode(disk.data).decode()}}
