"""The length of a content as compact JSON, in UTF-16 code units: the weight by which a history is split.

The unit and the number format are JavaScript's, because the split has to fall where Gemini CLI's does.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.history.content import ABSENT, Content

_encode = msgspec.json.Encoder().encode

_TWO_UNIT_ESCAPES: Final = frozenset('"\\\b\f\n\r\t')
_SAFE_INTEGER: Final = 2**53
"""Past this JavaScript's numbers are no longer exact."""


def json_length(content: Content) -> int:
    """Length in UTF-16 code units of the content's compact JSON as JavaScript would write it. Never raises."""
    if not _writes_numbers_otherwise(content.parts):
        try:
            return _utf16_length(_encode(content))
        except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
            pass
    return _slow_length(content)


def _utf16_length(data: bytes) -> int:
    return len(data) if data.isascii() else len(data.decode().encode("utf-16-le")) // 2


def _writes_numbers_otherwise(parts: tuple[Any, ...]) -> bool:
    """True if JavaScript may write a number of these parts in another way: a fraction, or an integer past 2^53."""
    stack: list[object] = list(parts)
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            continue
        if isinstance(value, dict):
            stack.extend(cast("dict[object, object]", value).values())
        elif isinstance(value, list | tuple):
            stack.extend(cast("list[object]", value))
        elif isinstance(value, float) or (isinstance(value, int) and not -_SAFE_INTEGER <= value <= _SAFE_INTEGER):
            return True
    return False


def _slow_length(content: Content) -> int:
    value: dict[str, Any] = {"role": content.role}
    if content.parts is not ABSENT:
        value["parts"] = content.parts
    return _length(value)


def _length(root: object) -> int:
    """Length of any JSON value. Iterative, so that a deeply nested one cannot exhaust the stack."""
    total = 0
    stack: list[object] = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            total += _string_length(value)
        elif isinstance(value, dict):
            members = cast("dict[object, object]", value)
            total += 2 + max(0, len(members) - 1)
            for key, member in members.items():
                total += _string_length(str(key)) + 1
                stack.append(member)
        elif isinstance(value, list | tuple):
            items = cast("list[object]", value)
            total += 2 + max(0, len(items) - 1)
            stack.extend(items)
        else:
            total += len(_scalar(value))
    return total


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else _large_integer(value)
    if isinstance(value, float):
        return _javascript_number(value)
    return "null"


def _large_integer(value: int) -> str:
    try:
        return _javascript_number(float(value))
    except OverflowError:
        return "null"  # what JavaScript writes for infinity


def _javascript_number(value: float) -> str:
    """ECMAScript's Number::toString for radix 10; `null`, as in JSON, for a number that is not finite."""
    if value != value or value in (float("inf"), float("-inf")):
        return "null"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    mantissa = "".join(map(str, digits))
    count = len(mantissa)
    point = count + cast("int", exponent)  # value = 0.mantissa * 10**point
    prefix = "-" if sign else ""
    if count <= point <= 21:
        return prefix + mantissa + "0" * (point - count)
    if 0 < point <= 21:
        return prefix + mantissa[:point] + "." + mantissa[point:]
    if -6 < point <= 0:
        return prefix + "0." + "0" * -point + mantissa
    power = point - 1
    head = mantissa if count == 1 else mantissa[0] + "." + mantissa[1:]
    return f"{prefix}{head}e{'+' if power > 0 else '-'}{abs(power)}"


def _string_length(text: str) -> int:
    try:
        return _utf16_length(_encode(text))
    except UnicodeEncodeError:  # a lone surrogate, which JavaScript escapes
        return 2 + sum(map(_escaped_length, text))


def _escaped_length(character: str) -> int:
    code = ord(character)
    if code > 0xFFFF or character in _TWO_UNIT_ESCAPES:
        return 2
    return 6 if code < 0x20 or 0xD800 <= code <= 0xDFFF else 1
