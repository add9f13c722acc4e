"""Opening a file below a root, whatever anybody swaps for a link meanwhile."""

from __future__ import annotations

import os
from typing import Final

from gemini_companion.adapters.files.folder import Strayed, held
from gemini_companion.engine.edits.encoding import decoded, with_nuls
from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.escapes import well_formed
from gemini_companion.settings.obeyed import MOST_BYTES, gate
from gemini_companion.tools.paths import parts_below

MAX_BYTES: Final = 262_144
"""Bytes of one file that are read."""


class Unreadable(Exception):
    """A file that cannot be read; the message says why, in a few words."""


class Withheld(Unreadable):
    """A file that does not count, for a command wrote it and the person has not agreed: that may change at any time."""


def is_below(path: str, root: str) -> bool:
    """Whether a real path is a root, or in it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def read_below(root: str, path: str) -> tuple[str, bool]:
    """The text of a regular file, at most `MAX_BYTES` of it, and whether there is more. Blocks.

    Both paths are real ones; each name on the way is opened from the folder before it, and no link is followed. Raises
    `Unreadable`.
    """
    parts = parts_below(path, root)
    if not parts or not is_below(path, root):
        raise Unreadable("it is a folder" if path == root else "it is outside of the project")
    try:
        with held(root, parts[:-1]) as folder:
            descriptor = folder.open_file(parts[-1])
            try:
                size = os.fstat(descriptor).st_size
                data = _read(descriptor, MOST_BYTES)
            finally:
                os.close(descriptor)
    except Strayed:
        raise Unreadable("it is no regular file") from None
    except FileNotFoundError:
        raise Unreadable("there is no such file") from None
    except PermissionError:
        raise Unreadable("it may not be read") from None
    except (OSError, ValueError) as fault:
        raise Unreadable((getattr(fault, "strerror", "") or "it cannot be read").lower()) from None
    if reason := gate.refusal(path, data, size):
        raise Withheld(reason)
    return text_of(data[: MAX_BYTES + 1], is_toml=path.endswith(".toml"))


def text_of(data: bytes, *, is_toml: bool = False) -> tuple[str, bool]:
    """The text of at most `MAX_BYTES` of a file, whole lines if it is cut, and whether it is. Raises `Unreadable`.

    NULs and bytes that are no text are written out; for TOML, in whose strings an escape is a sign, as it has them.
    """
    is_cut = len(data) > MAX_BYTES
    if is_cut:
        data = data[: data.rfind(b"\n", 0, MAX_BYTES) + 1] or data[:MAX_BYTES]
    known = decoded(data)
    text = with_nuls(data) if known is None else known.text
    if text is None:
        raise Unreadable("it is no text")
    text = with_line_feeds(text)
    if is_toml:
        return text.replace("\0", "\\u0000"), is_cut
    return well_formed(text.replace("\0", "\\x00")), is_cut


def _read(descriptor: int, limit: int) -> bytes:
    pieces: list[bytes] = []
    while limit > 0 and (piece := os.read(descriptor, limit)):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)
