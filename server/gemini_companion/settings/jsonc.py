"""JSON with comments and trailing commas: reading it, and finding the position of a key.

Comments are `//` to the end of the line and `/* */`. They are blanked out rather than cut out, and so is a comma behind
the last member, which VS Code's own settings may have: every position in an error is the position in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

from gemini_companion.settings.objects import JsonObject, KeyPath, adds_up, merge

# Each alternative matches whatever follows its first characters, closed or not: a hostile file costs one pass, not a
# square.
_STRING_OR_COMMENT: Final = re.compile(r'"(?:\\.|[^"\\])*"?|//[^\r\n]*|/\*.*?(?P<close>\*/|\Z)', re.DOTALL)
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*+"?|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_MAY_TRAIL: Final = re.compile(r",\s*+[}\]]")
_NOT_A_NEWLINE: Final = re.compile(r"[^\r\n]")
_INTEGER_DIGITS: Final = 18


class JsonFault(ValueError):
    """A text that is not JSON: `what` is wrong, and the `offset` of the character where."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.what = what
        self.offset = offset


def strip_comments(text: str) -> str:
    """The text with spaces for comments: the same length, every other character in its place, strings untouched.

    Raises `JsonFault` for a `/*` that is never closed.
    """
    return _STRING_OR_COMMENT.sub(_blank, text)


def parse(text: str, doubled: dict[KeyPath, bool] | None = None) -> object:
    """The value of a JSON text with comments and trailing commas. Raises `JsonFault`.

    Of a key that stands twice in one object the later value is laid over the earlier, as one layer of settings over
    another: what excludes or forbids adds up. `doubled` gets the keys that have two values, and whether the earlier
    one is lost.
    """
    plain = _without_trailing_commas(strip_comments(text))

    def refuse(constant: str) -> object:
        offset = next(token.start() for token in _TOKEN.finditer(plain) if token.group() == constant)
        raise JsonFault(f"{constant} is no JSON number", offset)

    try:
        value = json.loads(plain, parse_int=_integer, parse_constant=refuse, object_pairs_hook=_object)
        return _once(value, (), {} if doubled is None else doubled)
    except json.JSONDecodeError as fault:
        raise JsonFault(fault.msg[:1].lower() + fault.msg[1:], fault.pos) from None
    except RecursionError:
        raise JsonFault("nested too deeply", 0) from None


class _Doubled(dict[str, Any]):
    """An object in which a key stands twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else _Doubled(pairs)


def _once(value: Any, path: KeyPath, doubled: dict[KeyPath, bool]) -> Any:
    """The value with one value for each key."""
    if isinstance(value, list):
        return [_once(held, (*path, at), doubled) for at, held in enumerate(cast("list[Any]", value))]
    if not isinstance(value, dict):
        return value
    fields = cast("JsonObject", value)
    if not isinstance(fields, _Doubled):
        return {key: _once(held, (*path, key), doubled) for key, held in fields.items()}
    once: JsonObject = {}
    for key, held in fields.pairs:
        value = _once(held, (*path, key), doubled)
        once[key] = _laid_over(once[key], value, (*path, key), doubled) if key in once else value
    return once


def _laid_over(earlier: Any, later: Any, path: KeyPath, doubled: dict[KeyPath, bool]) -> Any:
    """One value for a key that has two."""
    if earlier is None or later is None:  # null sets nothing
        return earlier if later is None else later
    if repr(earlier) == repr(later):
        return later
    doubled[path] = doubled.get(path, False) or not adds_up(earlier, later, path)
    if doubled[path] or not isinstance(later, dict):
        key, above = cast("str", path[-1]), path[:-1]
        return merge({key: earlier}, {key: later}, above)[key]
    fields = dict(cast("JsonObject", earlier))
    for key, held in cast("JsonObject", later).items():
        fields[key] = _laid_over(fields[key], held, (*path, key), doubled) if key in fields else held
    return fields


def _without_trailing_commas(plain: str) -> str:
    """The text with a space for each comma between a value and the bracket that closes what it is in."""
    if not _MAY_TRAIL.search(plain):
        return plain
    kept: list[str] = []
    start, before, last = 0, "", ""
    comma = -1
    for token in _TOKEN.finditer(plain):
        sign = token.group()
        if sign in "}]" and last == "," and before not in ("", ",", ":", "{", "["):
            kept += [plain[start:comma], " "]
            start = comma + 1
        if sign == ",":
            comma = token.start()
        before, last = last, sign
    return "".join((*kept, plain[start:]))


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset (from 0), both from 1, the column in characters."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def tokens_of(text: str) -> Iterator[tuple[int, str]]:
    """The tokens of a text that `parse` accepts, with their offsets: brackets, colons, commas, plain values."""
    return ((token.start(), token.group()) for token in _TOKEN.finditer(strip_comments(text)))


def locate(text: str, paths: Iterable[KeyPath]) -> dict[KeyPath, int]:
    """Offsets of keys or arrays' elements in a text that `parse` accepts, in one pass; missing ones are left out."""
    wanted = set(paths)
    lengths = {len(path) for path in wanted}
    found: dict[KeyPath, int] = {}
    here: list[str | int] = []
    expects_key: list[bool] = []

    def note(offset: int) -> None:
        if len(here) in lengths and (path := tuple(here)) in wanted:
            found[path] = offset

    for token in _TOKEN.finditer(strip_comments(text)):
        sign = token.group()
        if sign in "}]":
            here.pop()
            expects_key.pop()
        elif sign == ",":
            last = here[-1]
            if isinstance(last, int):
                here[-1] = last + 1
            else:
                expects_key[-1] = True
        elif sign == ":":
            expects_key[-1] = False
        elif expects_key and expects_key[-1]:
            here[-1] = json.loads(sign)
            note(token.start())
        else:
            if here and isinstance(here[-1], int):
                note(token.start())
            if sign in "{[":
                here.append("" if sign == "{" else 0)
                expects_key.append(sign == "{")
    return found


def _blank(match: re.Match[str]) -> str:
    found = match.group()
    if found.startswith('"'):
        return found
    if match.group("close") == "":
        raise JsonFault("a comment is opened with /* and never closed", match.start())
    return _NOT_A_NEWLINE.sub(" ", found)


def _integer(digits: str) -> int | float:
    # No setting needs more, and Python refuses to read thousands of digits as an integer.
    return int(digits) if len(digits) <= _INTEGER_DIGITS else float(digits)
