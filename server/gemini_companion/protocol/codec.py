"""JSON in and out: bodies to builtins, builtins to Structs, and back. Strict, bounded, and never surprised by text that
is no Unicode.

Python can hold lone surrogates (half an emoji) in a string and UTF-8 cannot, so both directions write them out. In the
texts of documents U+FFFD stands for them, of one unit as they are, for columns count those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar, cast

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import json_with_whole_signs, well_formed
from gemini_companion.protocol.errors import INVALID_REQUEST, PARSE_ERROR, protocol_error

T = TypeVar("T")

MAX_DEPTH: Final = 128
"""Levels of objects and arrays in one message, the message itself included."""

_EXACT_INTEGERS: Final = 2.0**53
_LONGEST_REASON: Final = 300
_OF_DOCUMENTS: Final = "textDocument/"

_MISSING = re.compile(r"Object missing required field `([^`]*)`")

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def decode_body(body: bytes) -> Any:
    """The JSON value of one message's body. Raises `RpcError`: -32700 if it is no UTF-8 or no JSON, -32600 if
    nested beyond reason.
    """
    try:
        return _decoder.decode(body)
    except UnicodeDecodeError as error:
        raise protocol_error(PARSE_ERROR, "The message is not UTF-8.") from error
    except RecursionError:
        raise protocol_error(INVALID_REQUEST, f"The message is nested deeper than {MAX_DEPTH} levels.") from None
    except msgspec.DecodeError as error:
        repaired = json_with_whole_signs(body)
        if repaired == body:
            raise protocol_error(PARSE_ERROR, f"The message is not JSON: {_shortened(str(error))}.") from None
        message = fields = decode_body(repaired)
        method = cast("dict[str, object]", fields).get("method") if isinstance(fields, dict) else None
        if isinstance(method, str) and method.startswith(_OF_DOCUMENTS):
            return decode_body(json_with_whole_signs(body, rb"\ufffd"))
        return message


def is_too_deep(body: bytes, message: object) -> bool:
    """Whether `message`, decoded from `body`, has more than `MAX_DEPTH` levels."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    level = [message]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def decode_params(kind: type[T], raw: object) -> T:
    """The params of a method, from what was sent. None at all counts as `{}`, and so does `[]`, which is what Lua makes
    of an empty table.

    Unknown fields are ignored. Raises `InvalidInput`, whose message and `path` name the place in the wire's own
    spelling.
    """
    if raw is None or raw == []:
        raw = {}
    if isinstance(raw, list):
        raise InvalidInput("params must be an object: parameters go by name, not by position.")
    return decode(kind, raw)


def decode(kind: type[T], raw: object, *, root: str = "$") -> T:
    """A value of `kind` from builtins. `root` stands for `$` in the path of the `InvalidInput` that is raised for
    anything else.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        problem = str(error)
    if "got `float`" in problem:  # 1.0 is an integer in JSON, and some clients write it so
        try:
            return msgspec.convert(_with_whole_numbers(raw), kind)
        except msgspec.ValidationError as error:
            problem = str(error)
    raise _invalid(problem, root)


def encode_body(message: object) -> bytes:
    """JSON as UTF-8. Raises `TypeError` for what is no JSON, which is a defect of the caller."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        return _encoder.encode(_encodable(msgspec.to_builtins(message)))


def encode(value: object) -> Any:
    """The builtins that a Struct's JSON decodes to: lists for tuples, and Unicode throughout."""
    return _decoder.decode(encode_body(value))


def _children(node: object) -> Iterable[object]:
    return cast("dict[str, object]", node).values() if isinstance(node, dict) else cast("list[object]", node)


def _invalid(problem: str, root: str) -> InvalidInput:
    """Split msgspec's sentence, ``Expected `str`, got `int` - at `$.text` ``, into what and where."""
    what, _, where = problem.rpartition(" - at `")
    if not what:
        what, where = problem, "$`"
    path = root + where.removesuffix("`").removeprefix("$")
    if missing := _MISSING.fullmatch(what):
        path = f"{path}.{missing[1]}"
        what = "missing"
    return InvalidInput(f"{path}: {_shortened(what)}.", path=path)


def _shortened(text: str) -> str:
    """Keep what quotes a client's own value short."""
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"


def _with_whole_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in cast("list[object]", value)]
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_INTEGERS:
        return int(value)
    return value


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): _encodable(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in cast("Sequence[object]", value)]
    return value
