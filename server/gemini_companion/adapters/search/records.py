"""What `rg --json` writes, read piece by piece and never held as a whole: one line of it may have gigabytes."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

MAX_TEXT: Final = 2_000
"""Characters of a line that are kept."""
CUT: Final = "… [truncated]"
_HEAD: Final = 64 * 1024
"""Bytes of a record that are kept. A longer one is a line of a file that is cut."""
_NUMBER: Final = b',"line_number":'
_TEXT: Final = b'"lines":{"text":"'
_BYTES: Final = b'"lines":{"bytes":"'


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a file, found or around one that was."""

    path: bytes
    """As ripgrep was told of it."""
    number: int
    text: str
    is_match: bool
    is_bytes: bool = False
    """It is no UTF-8: each character of the text is a byte."""


class FileEnd(msgspec.Struct, frozen=True, kw_only=True):
    """No more lines of this file come."""

    path: bytes


Record: TypeAlias = Seen | FileEnd


class _Written(msgspec.Struct):
    text: str | None = None
    bytes: str = ""
    """In base 64, where it is no UTF-8."""


class _Data(msgspec.Struct):
    path: _Written | None = None
    lines: _Written | None = None
    line_number: int = 0


class _Line(msgspec.Struct):
    type: str
    data: _Data = msgspec.field(default_factory=_Data)


_decoder: Final = msgspec.json.Decoder(_Line)


class Records:
    """Takes bytes and gives records."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._number: bytes | None = None
        """The digits behind `line_number` of a record that is too long, as far as they came."""
        self._seam = b""
        """The end of what was dropped of such a record, where the name before the number may begin."""
        self._is_long = False
        self._path = b""

    def feed(self, data: bytes) -> Iterator[Record]:
        """The records that end in these bytes."""
        at = 0
        while (end := data.find(b"\n", at)) >= 0:
            self._take(data[at:end])
            record = self._record()
            if record is not None:
                yield record
            at = end + 1
        self._take(data[at:])

    def _take(self, data: bytes) -> None:
        if not self._is_long:
            self._head += data
            if len(self._head) <= _HEAD:
                return
            self._is_long = True
            data = bytes(self._head[_HEAD:])
            del self._head[_HEAD:]
            self._seam = bytes(self._head[-64:])
        if self._number is None or len(self._number) < 20:
            joined = self._seam + data
            # A quotation mark in a text has a backslash before it, so this is never part of one.
            found = joined.find(_NUMBER)
            if found >= 0 and self._number is None:
                self._number = joined[found + len(_NUMBER) :][:20]
            elif self._number is not None:
                self._number = (self._number + data)[:20]
            self._seam = joined[-64:]

    def _record(self) -> Record | None:
        head, number, is_long = bytes(self._head), self._number, self._is_long
        self._head.clear()
        self._number, self._seam, self._is_long = None, b"", False
        return self._long(head, number or b"") if is_long else self._whole(head)

    def _whole(self, line: bytes) -> Record | None:
        try:
            record = _decoder.decode(line)
            if record.type == "begin" and record.data.path is not None:
                self._path = _bytes(record.data.path)
            elif record.type == "end":
                return FileEnd(path=self._path)
            elif record.type in ("match", "context") and record.data.lines is not None:
                text, is_match = cut(_text(record.data.lines)), record.type == "match"
                is_bytes = record.data.lines.text is None
                return Seen(
                    path=self._path, number=record.data.line_number, text=text, is_match=is_match, is_bytes=is_bytes
                )
        except (msgspec.MsgspecError, ValueError):
            pass
        return None

    def _long(self, head: bytes, number: bytes) -> Record | None:
        digits = number[: len(number) - len(number.lstrip(b"0123456789"))]
        if not digits:
            return None
        text = _beginning(head, _TEXT)
        if text is None:
            text = _beginning_of_bytes(head)
        is_match = head.startswith(b'{"type":"match"')
        return Seen(path=self._path, number=int(digits), text=text[:MAX_TEXT] + CUT, is_match=is_match)


def cut(line: str) -> str:
    """A line without its break, not longer than is shown."""
    line = line.removesuffix("\n").removesuffix("\r")
    return line if len(line) <= MAX_TEXT else line[:MAX_TEXT] + CUT


def _beginning(head: bytes, mark: bytes) -> str | None:
    """The first characters of a JSON text that goes on beyond what is there."""
    _, found, rest = head.partition(mark)
    if not found:
        return None
    for end in range(min(len(rest), 6 * MAX_TEXT), 0, -1):  # a cut escape or character is soon left behind
        try:
            return msgspec.json.decode(b'"' + rest[:end] + b'"', type=str)
        except (msgspec.MsgspecError, ValueError):
            continue
    return ""


def _beginning_of_bytes(head: bytes) -> str:
    encoded = head.partition(_BYTES)[2][: 4 * (MAX_TEXT // 2)]
    try:
        return base64.b64decode(encoded[: len(encoded) // 4 * 4]).decode("utf-8", "replace")
    except ValueError:
        return ""


def _bytes(written: _Written) -> bytes:
    return base64.b64decode(written.bytes) if written.text is None else written.text.encode()


def _text(written: _Written) -> str:
    if written.text is not None:
        return written.text
    return base64.b64decode(written.bytes).decode("latin-1")
