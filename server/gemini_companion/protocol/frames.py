"""LSP's base protocol: bytes to message bodies and back. Pure, so that it can be fuzzed; whatever comes in, it goes on.

A body that is too large is announced and then skipped. After bytes that are no header the parser looks for the next
`Content-Length` and goes on from there, so that one broken message costs itself and not the connection.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias

MAX_BODY: Final = 64 * 2**20
"""Bytes of one body."""
MAX_HEADER: Final = 16 * 2**10
"""Bytes of one header block, which is 20 to 100 in practice."""

_USUAL_HEADER = re.compile(rb"Content-Length: ([0-9]{1,9})\r\n\r\n")
_HEADER_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*([^\r]*?)[ \t]*\r?", re.DOTALL)
_HEADER_START = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]*[ \t]*(?::[^\r]*)?\r?", re.DOTALL)
_LENGTH = re.compile(rb"[0-9]{1,10}")
_NEXT_LENGTH = re.compile(rb"Content-Length[ \t]{0,16}:[ \t]{0,16}[0-9]{1,10}[ \t]{0,16}\r?\n", re.IGNORECASE)
_LONGEST_NEXT_LENGTH: Final = 128


class FrameFault(NamedTuple):
    """What came in is no message; `reason` is a sentence for the client."""

    reason: str


Frame: TypeAlias = bytes | FrameFault


class FrameParser:
    """Takes bytes as they come and gives bodies. `feed`, then `next` until it has no more."""

    def __init__(self, *, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self._buffer = bytearray()
        self._at = 0
        self._body_length: int | None = None
        self._to_skip = 0
        self._lost = False

    def feed(self, data: bytes) -> None:
        """Add bytes."""
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        self._buffer += data

    def next(self) -> Frame | None:
        """The next body or fault; `None` until more bytes are there."""
        while self._body_length is None:
            if self._to_skip and not self._skip():
                return None
            if self._lost and not self._find_next_length():
                return None
            header = self._read_header()
            if isinstance(header, FrameFault):
                return header
            if not header:
                return None
        end = self._at + self._body_length
        if len(self._buffer) < end:
            return None
        body = bytes(memoryview(self._buffer)[self._at : end])
        self._at, self._body_length = end, None
        return body

    def _skip(self) -> bool:
        skipped = min(self._to_skip, len(self._buffer) - self._at)
        self._at += skipped
        self._to_skip -= skipped
        return not self._to_skip

    def _find_next_length(self) -> bool:
        found = _NEXT_LENGTH.search(self._buffer, self._at)
        self._at = found.start() if found else max(self._at, len(self._buffer) - _LONGEST_NEXT_LENGTH)
        self._lost = found is None
        return not self._lost

    def _read_header(self) -> FrameFault | bool:
        """Whether the header was read; `False` until more bytes are there."""
        if usual := _USUAL_HEADER.match(self._buffer, self._at):
            return self._expect(int(usual[1]), usual.end())
        lengths: set[bytes] = set()
        cursor, limit = self._at, self._at + MAX_HEADER
        while True:
            end = self._buffer.find(b"\n", cursor, limit)
            line = bytes(self._buffer[cursor : limit if end < 0 else end])
            if end < 0:
                if cursor + len(line) < limit and _HEADER_START.fullmatch(line):
                    return False
                return self._lose(cursor, "What came is no header of a message.")
            if line in {b"", b"\r"}:
                if cursor > self._at:
                    cursor = end + 1
                    break
                self._at = cursor = end + 1  # empty lines between messages are harmless
                limit = self._at + MAX_HEADER
                continue
            header = _HEADER_LINE.fullmatch(line)
            if header is None:
                return self._lose(cursor, "What came is no header of a message.")
            if header[1].lower() == b"content-length":
                lengths.add(header[2])
            cursor = end + 1
        length = lengths.pop() if len(lengths) == 1 else b""
        if not _LENGTH.fullmatch(length):
            return self._lose(cursor, "The header has no valid Content-Length.")
        return self._expect(int(length), cursor)

    def _expect(self, length: int, start: int) -> FrameFault | bool:
        self._at = start
        if length > self._max_body:
            self._to_skip = length
            return FrameFault(f"The message has {length} bytes; at most {self._max_body} are taken.")
        self._body_length = length
        return True

    def _lose(self, at: int, reason: str) -> FrameFault:
        self._at, self._lost = at, True
        return FrameFault(reason)


def frame(body: bytes) -> bytes:
    """A body with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
