"""Whether lines that a search found are those of the file in the workspace.

A search program opens files by their names. Where a folder is swapped for a link meanwhile, it reads what the link
leads to; so each file with matches is opened once more, from its root, and has to have the lines.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final

from gemini_companion.adapters.files.editorconfig import charset_of
from gemini_companion.adapters.files.folder import CAN_HOLD, held
from gemini_companion.adapters.search.records import CUT
from gemini_companion.engine.edits.encoding import decoded
from gemini_companion.tools.paths import innermost, parts_below
from gemini_companion.tools.tool import ToolRefusal

_MAX_BYTES: Final = 20 * 1024 * 1024


def has_lines(path: str, lines: Iterable[str], folders: Sequence[str]) -> bool:
    """True if the file at an absolute real path, opened from its folder, has all of these lines. Blocks."""
    root = innermost(path, folders)
    if root is None:
        return False
    try:
        data = _read(root, parts_below(path, root))
    except OSError:
        return False
    text: str | None = None
    for line in lines:
        wanted = line.removesuffix(CUT)
        if wanted.encode("utf-8", "replace") in data or wanted.encode("latin-1", "replace") in data:
            continue
        if text is None:
            known = decoded(data)
            text = known.text if known is not None else data.decode("utf-8", "replace")
        if wanted not in text:
            return False
    return True


def bytes_of(path: str, folders: Sequence[str]) -> tuple[bytes, str]:
    """The bytes of a file at an absolute real path, opened from its folder, and the encoding that is declared for it.

    Nothing where it cannot be read. Blocks.
    """
    root = innermost(path, folders)
    if root is None:
        return b"", ""
    parts = parts_below(path, root)
    try:
        return _read(root, parts), charset_of(root, parts, by_descriptor=CAN_HOLD)
    except (OSError, ToolRefusal):
        return b"", ""


def _read(root: str, parts: Sequence[str]) -> bytes:
    with held(root, parts[:-1]) as folder:
        descriptor = folder.open_file(parts[-1])
        try:
            pieces: list[bytes] = []
            left = _MAX_BYTES
            while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
                pieces.append(piece)
                left -= len(piece)
            return b"".join(pieces)
        finally:
            os.close(descriptor)
