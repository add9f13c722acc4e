"""Opening files that may be anything: a pipe that blocks, a device, a gigabyte, a text in UTF-16."""

from __future__ import annotations

import codecs
import os
import stat

from gemini_companion.engine.edits.encoding import decoded

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_STRANGE_SHARE = 0.1
"""A text with a larger share of bytes that are not UTF-8 is taken for binary or for another encoding."""


def read_bytes(path: str, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file; `None` for anything else or unreadable. Never blocks on a pipe."""
    try:
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        )
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        pieces: list[bytes] = []
        while limit > 0 and (piece := os.read(descriptor, min(limit, 1 << 20))):
            pieces.append(piece)
            limit -= len(piece)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return b"".join(pieces)


def read_text(path: str, limit: int) -> str | None:
    """The first `limit` characters of a text file, without its byte order mark; `None` if it is no readable text.

    The encoding is UTF-8, or that of the mark; a few bytes that are not UTF-8 become U+FFFD. Where most are not, it is
    the one that the text says it has, or that is guessed; a NUL, or bytes in no encoding, mean that it is no text.
    """
    size = 4 * max(0, limit) + 4  # the longest character and the longest mark have four bytes
    data = read_bytes(path, size)
    if data is None:
        return None
    mark, encoding = next((known for known in BOMS if data.startswith(known[0])), (b"", "utf-8"))
    if not mark and b"\0" in data:
        return None
    data = data[len(mark) :]
    # Not final if the file is longer: the last character may be cut.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data, final=len(data) + 4 < size)
    strange = text.count("\ufffd")
    if strange and not mark and 2 * strange > len(text) - len(text.encode("ascii", "ignore")):  # mostly no UTF-8
        other = decoded(data if len(data) + 4 < size else data[: data.rfind(b"\n") + 1])
        if other is not None and other.encoded.encoding not in ("utf-8", "latin-1"):
            return other.text[: max(0, limit)]
    if strange > _STRANGE_SHARE * len(text):
        return None
    return text[: max(0, limit)]
