"""Server-sent events as services and proxies send them, made into the ones that the SDK reads. Pure.

The SDK takes every line that does not begin with `data: ` for JSON, and breaks lines inside a JSON text at what Unicode
calls a line end. The rules followed here are those of https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, cast

DONE: Final = b"[DONE]"
"""The data that proxies end a stream with."""

_IGNORED_FIELDS: Final = frozenset({b"", b"event", b"id", b"retry"})
"""Fields without an answer in them; the one without a name is a comment."""
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# Line ends for Unicode, but not for the format: only inside a JSON string can they stand, so there they are escaped.
_ESCAPES: Final = ((b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029"), (b"\xc2\x85", rb"\u0085"))

_ODD_COUNT: Final = re.compile(
    rb'"\w{0,40}(?:[tT]oken_?[cC]ount"\s*+:\s*+(?!\d{1,15}\s*[,}])|[dD]etails"\s*+:\s*+(?!\[|null))'
)
_COUNT: Final = re.compile(r"\w{1,40}[tT]oken_?[cC]ount")
_LONGEST_NUMBER: Final = 15
"""Digits of a count; Python refuses to read thousands of them."""


def with_usable_counts(data: bytes) -> bytes:
    """An answer's JSON without counts that are none (1.5, "abc", 1e308): the SDK would refuse the answer with them."""
    if not _ODD_COUNT.search(data):
        return data
    try:
        answer: object = json.loads(data, parse_int=_integer)
    except (ValueError, RecursionError):
        return data
    if not isinstance(answer, dict):
        return data
    fields = cast("dict[str, object]", answer)
    for name in ("usageMetadata", "usage_metadata"):
        usage = fields.get(name)
        if isinstance(usage, dict):
            counts = cast("dict[str, object]", usage).items()
            fields[name] = {key: value for key, value in counts if _COUNT.fullmatch(key) and type(value) is int}
    return json.dumps(answer).encode()


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)


class EventLines:
    """Takes a stream's bytes as they come and gives whole lines that the SDK understands.

    Comments, other fields and data that is empty are left out. A line that is no field stays as it is, since an error
    may come as bare JSON. The whole costs time linear in the bytes.
    """

    def __init__(self) -> None:
        self.is_done = False
        """True once the stream said that nothing follows; what comes after that is dropped."""
        self._line = bytearray()
        """The beginning of a line whose end has not come."""
        self._ends_with_return = False
        self._is_first = True

    @property
    def waiting(self) -> int:
        """Bytes of the line whose end has not come."""
        return len(self._line)

    def feed(self, data: bytes) -> bytes:
        """The lines that `data` completes."""
        if not data or self.is_done:
            return b""
        if self._ends_with_return and data.startswith(b"\n"):
            data = data[1:]
        self._ends_with_return = data.endswith(b"\r")
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._line += lines[0]
        if len(lines) == 1:
            return b""
        whole = [bytes(self._line), *lines[1:-1]]
        self._line = bytearray(lines[-1])
        return b"".join(self._readable(whole))

    def rest(self) -> bytes:
        """The last line of a stream that ended without a line end."""
        line, self._line = bytes(self._line), bytearray()
        return b"" if self.is_done else b"".join(self._readable([line]))

    def _readable(self, lines: list[bytes]) -> Iterator[bytes]:
        for line in lines:
            if self._is_first:
                line = line.removeprefix(_BYTE_ORDER_MARK)
                self._is_first = False
            name, _, value = line.partition(b":")
            if not line:
                yield b"\n"
            elif name == b"data":
                value = value.strip()
                if value == DONE:
                    self.is_done = True
                    return
                if value:
                    for found, escaped in _ESCAPES:
                        value = value.replace(found, escaped)
                    yield b"data: %s\n" % with_usable_counts(value)
            elif name not in _IGNORED_FIELDS:
                yield b"%s\n" % line
