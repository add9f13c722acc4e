"""JSON bytes to plain Python values, with errors that a person can act on."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import json_with_whole_signs

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_IS_OBJECT: Final = re.compile(rb"[ \t\r\n]*+\{")

_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw])

_AT_ONCE: Final = 1024 * 1024
"""Bytes that are read in one call, which takes some milliseconds."""

_BYTE: Final = re.compile(r"\(byte (\d+)\)")
"""Where msgspec stopped, in its error message."""


def parse_json(data: bytes) -> object:
    """The value in `data`: UTF-8, with or without a byte order mark. Halves of surrogate pairs in it are written out.

    Raises `InvalidInput`, with line and column (from 1, in characters) where the JSON is broken.
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        return msgspec.json.decode(data) if len(data) <= _AT_ONCE else _parse_in_pieces(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return _parse_carefully(data)


def _parse_in_pieces(data: bytes) -> object:
    """The same value, made piece by piece: nothing else of the process runs while one call reads a whole file."""
    if not _IS_OBJECT.match(data):
        return _items(data)
    members = _OBJECT.decode(data)
    return {name: _value(raw) for name, raw in members.items()}


def _value(raw: msgspec.Raw) -> object:
    is_array = memoryview(raw)[0] == ord("[")
    return _items(raw) if is_array else msgspec.json.decode(raw)


def _items(data: bytes | msgspec.Raw) -> list[object]:
    decode = msgspec.json.Decoder().decode
    return [decode(item) for item in _ARRAY.decode(data)]


def _parse_carefully(data: bytes) -> object:
    """Parse what the fast parser refuses: write halves of surrogate pairs out, else report what is wrong and where."""
    import json  # not needed for a sound file

    try:
        data.decode()
    except UnicodeDecodeError as fault:
        raise InvalidInput(
            f"The file is not UTF-8 text: byte {fault.start} is {data[fault.start]:#04x}.",
            hint="Save it as UTF-8 and try again.",
        ) from None
    mended = json_with_whole_signs(data) if b"\\u" in data else data
    try:
        return msgspec.json.decode(mended)
    except RecursionError:
        raise InvalidInput("The JSON is nested too deeply to be read.") from None
    except msgspec.DecodeError as fault:
        reason = str(fault)
    try:
        json.loads(mended.decode(), parse_constant=_refuse_constant)
    except json.JSONDecodeError as fault:
        raise InvalidInput(f"Broken JSON at line {fault.lineno}, column {fault.colno}: {fault.msg}.") from None
    except (RecursionError, ValueError):
        pass  # Python reads more than JSON: constants, endless numbers
    if found := _BYTE.search(reason):
        before = mended[: int(found[1])].decode(errors="replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise InvalidInput(f"Broken JSON at line {line}, column {column}.") from None
    raise InvalidInput(f"The JSON cannot be read: {reason}.") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
