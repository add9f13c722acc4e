"""The bytes of a text file as text, and back again byte for byte."""

from __future__ import annotations

import codecs
from typing import Final, Literal, TypeAlias

import msgspec

Encoding: TypeAlias = Literal["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1"]

_MARKS: Final[tuple[tuple[bytes, Encoding], ...]] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS: Final = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1b") + b"\x7f"
_WITHOUT_CONTROLS: Final = dict.fromkeys(_CONTROLS)
_CONTROL_SHARE: Final = 0.02
"""A text in an unknown encoding with a larger share of control characters is taken for binary."""
_LOOKED_AT: Final = 65_536


class Encoded(msgspec.Struct, frozen=True, kw_only=True):
    """How a text is written down."""

    encoding: Encoding = "utf-8"
    mark: bytes = b""
    """The byte order mark, if it has one."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a file, its line endings as they are, without byte order mark."""

    text: str
    encoded: Encoded = Encoded()


def decoded(data: bytes) -> Text | None:
    """The whole file as text; `None` if it is no text. What comes back encodes to exactly these bytes."""
    mark, encoding = next((known for known in _MARKS if data.startswith(known[0])), (b"", None))
    if encoding is not None:
        try:
            return Text(text=_strictly(data[len(mark) :], encoding), encoded=Encoded(encoding=encoding, mark=mark))
        except UnicodeError:
            return None
    if b"\0" in data:
        return _without_mark(data)
    try:
        return Text(text=data.decode("utf-8"))
    except UnicodeError:
        pass
    looked_at = data[:_LOOKED_AT]
    if len(looked_at) - len(looked_at.translate(None, _CONTROLS)) > _CONTROL_SHARE * len(looked_at):
        return None
    return Text(text=data.decode("latin-1"), encoded=Encoded(encoding="latin-1"))


def encode(text: str, encoded: Encoded) -> bytes:
    """The bytes of a text. Raises `UnicodeEncodeError` if the encoding has no bytes for one of its characters."""
    return encoded.mark + text.encode(encoded.encoding)


def _strictly(data: bytes, encoding: Encoding) -> str:
    text = data.decode(encoding)
    if text.encode(encoding) != data:  # pragma: no cover - no codec of the table does that
        raise UnicodeError
    return text


def _without_mark(data: bytes) -> Text | None:
    """UTF-16 without a mark: half of the bytes of a western text are NUL, all on one side."""
    if len(data) % 2:
        return None
    looked_at = data[:_LOOKED_AT]
    even, odd = looked_at[::2].count(0), looked_at[1::2].count(0)
    encoding: Encoding = "utf-16-le" if odd > even else "utf-16-be"
    if min(even, odd) > 0 or max(even, odd) < 0.4 * (len(looked_at) / 2):
        return None
    try:
        text = _strictly(data, encoding)
    except UnicodeError:
        return None
    start = text[:_LOOKED_AT]
    if len(start) - len(start.translate(_WITHOUT_CONTROLS)) > _CONTROL_SHARE * len(start):
        return None  # small numbers, two bytes each
    return Text(text=text, encoded=Encoded(encoding=encoding))
