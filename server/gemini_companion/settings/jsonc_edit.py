"""Changing one value or one list of a JSON text with comments, everything else to the character as it was.

A change is made in the text and then read again: if it does not give exactly what was wanted, nothing is changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from gemini_companion.settings.jsonc import JsonFault, parse, strip_comments, tokens_of
from gemini_companion.settings.objects import JsonObject, KeyPath, holds, merge, nested, value_at, without


class NotEditable(ValueError):
    """The text cannot be changed so; the message says why."""


@dataclass(slots=True)
class _Value:
    """A value in the text, from `start` to `end`, with its members by key or by number."""

    start: int
    end: int = 0
    members: dict[str | int, _Value] = field(default_factory=dict["str | int", "_Value"])
    kind: str = ""
    """The bracket that it begins with; empty for a plain value."""
    key_start: int = -1
    """Where its key begins, if it has one."""

    @property
    def begin(self) -> int:
        """Where the member begins, its key included."""
        return self.start if self.key_start < 0 else self.key_start


def with_value(text: str, path: tuple[str, ...], value: object) -> str:
    """The text with this value at `path`, in place of the one that is there; objects on the way are made.

    Raises `NotEditable`.
    """
    before = _document(text)
    if not text.strip():
        text = "{}\n"
    outer, at = _read(text), 0
    while at < len(path) and path[at] in outer.members:
        outer, at = outer.members[path[at]], at + 1
        if at < len(path) and outer.kind != "{":
            raise NotEditable("a value in the way is no object")
    if at == len(path):
        changed = text[: outer.start] + json.dumps(value, ensure_ascii=False) + text[outer.end :]
    else:
        inner = json.dumps(nested(path[at + 1 :], value), ensure_ascii=False)
        changed = _inserted(text, outer, f"{json.dumps(path[at], ensure_ascii=False)}: {inner}")
    return _checked(changed, _placed(before, path, value))


def without_value(text: str, path: tuple[str, ...]) -> str:
    """The text without the value at `path` and its key, as it is if there is none. Raises `NotEditable`."""
    before = _document(text)
    if not holds(before, path):
        return text
    outer = _read(text)
    for step in path[:-1]:
        outer = outer.members[step]
    return _checked(_cut(text, outer, path[-1]), without(before, path))


def with_element(text: str, path: KeyPath, element: object) -> str:
    """The text with one more element at the end of the list at `path`, which is made where there is none.

    Raises `NotEditable`.
    """
    before = _document(text)
    held = value_at(before, path)
    if held is not None and not isinstance(held, list):
        raise NotEditable("what stands there is no list")
    if not text.strip():
        text = "{}\n"
    root, at = _read(text), 0
    value: _Value = root
    while at < len(path) and isinstance(path[at], str) and path[at] in value.members:
        inner = value.members[path[at]]
        if inner.kind not in ("{", "["):
            break
        value, at = inner, at + 1
    if at < len(path) and path[at] in value.members:
        raise NotEditable("a value in the way is no object")
    rendered = json.dumps(element if at == len(path) else nested(path[at + 1 :], [element]), ensure_ascii=False)
    if at < len(path):
        rendered = f"{json.dumps(path[at])}: {rendered}"
    changed = _inserted(text, value, rendered)
    return _checked(changed, merge(_without_list(before, path), nested(path, [*_list(cast("object", held)), element])))


def without_elements(text: str, path: KeyPath, unwanted: Iterable[object]) -> str:
    """The text without those elements of the list at `path` that equal one of `unwanted`. Raises `NotEditable`."""
    gone = list(unwanted)
    before = _document(text)
    held = value_at(before, path)
    if not isinstance(held, list):
        return text
    value = _read(text)
    for step in path:
        value = value.members[step]
    elements = cast("list[object]", held)
    for number in reversed(range(len(elements))):
        if elements[number] in gone:
            text = _cut(text, value, number)
            value = _read(text)
            for step in path:
                value = value.members[step]
    kept = [element for element in elements if element not in gone]
    return _checked(text, merge(_without_list(before, path), nested(path, kept)))


def _document(text: str) -> JsonObject:
    if not text.strip():
        return {}
    try:
        value = parse(text)
    except JsonFault as fault:
        raise NotEditable(f"it is not valid JSON: {fault.what}") from None
    if not isinstance(value, dict):
        raise NotEditable("it is no object with settings")
    return cast("JsonObject", value)


def _checked(text: str, wanted: JsonObject) -> str:
    if _document(text) != wanted:
        raise NotEditable("it is written in a way that a program cannot change safely")
    return text


def _placed(document: JsonObject, path: tuple[str, ...], value: object) -> JsonObject:
    """The document with a value at a path that leads through objects only; nothing is merged."""
    if not path:
        return cast("JsonObject", value)
    return {**document, path[0]: _placed(document.get(path[0], {}), path[1:], value)}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _without_list(document: JsonObject, path: KeyPath) -> JsonObject:
    """The document with an empty object in place of the list: `merge` may join lists, and must not here."""
    return merge(document, nested(path, None)) if value_at(document, path) is not None else document


def _read(text: str) -> _Value:
    """Where the values of a valid text stand; of equal keys the last."""
    root = _Value(0)
    stack: list[_Value] = []
    key: str | int = ""
    keys: list[str | int] = []
    expects_key = False
    key_start = -1
    for start, sign in tokens_of(text):
        end = start + len(sign)
        if sign in ("}", "]"):
            stack.pop().end = end
            key = keys.pop()
            expects_key = False
        elif sign == ",":
            outer = stack[-1]
            expects_key = outer.kind == "{"
            key = key if expects_key else cast("int", key) + 1
        elif sign == ":":
            expects_key = False
        elif expects_key:
            key, key_start = json.loads(sign), start
        else:
            value = _Value(start, end, kind=sign if sign in "{[" else "", key_start=key_start)
            key_start = -1
            if stack:
                stack[-1].members.pop(key, None)
                stack[-1].members[key] = value
            else:
                root = value
            if value.kind:
                stack.append(value)
                keys.append(key)
                expects_key = value.kind == "{"
                key = "" if expects_key else 0
    return root


def _inserted(text: str, outer: _Value, rendered: str) -> str:
    """The text with one more member at the end of an object or a list, on a line of its own where the others are."""
    plain = strip_comments(text)
    close = outer.end - 1
    last = max((member.end for member in outer.members.values()), default=None)
    newline = "\r\n" if "\r\n" in text else "\n"
    is_spread = "\n" in text[outer.start : outer.end]
    if not is_spread:
        before = "" if last is None else ", "
        place = outer.start + 1 if last is None else last
        return text[:place] + before + rendered + text[place:]
    indent = _indent(text, outer, last)
    place = last if last is not None else outer.start + 1
    end_of_line = plain.find("\n", place)
    line = plain[place:end_of_line] if end_of_line >= 0 else "x"
    at = end_of_line if not line.strip() and end_of_line < close else place
    if at != place and text[at - 1] == "\r":
        at -= 1
    comma = "," if last is not None else ""
    tail = "" if plain[at:close].strip(" \t") else newline + _indent_of_line(text, outer.start)
    return text[:place] + comma + text[place:at] + newline + indent + rendered + tail + text[at:]


def _indent(text: str, outer: _Value, last: int | None) -> str:
    if last is not None:
        start = max(member.start for member in outer.members.values() if member.end <= last)
        return _indent_of_line(text, start)
    return _indent_of_line(text, outer.start) + "  "


def _indent_of_line(text: str, offset: int) -> str:
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _cut(text: str, outer: _Value, name: str | int) -> str:
    """The text without one member of an object or a list, and without the comma that set it apart."""
    plain = strip_comments(text)
    names = list(outer.members)
    at = names.index(name)
    start, end = outer.members[name].begin, outer.members[name].end
    comma = plain.find(",", end, outer.members[names[at + 1]].begin) if at + 1 < len(names) else -1
    if comma >= 0:
        end = comma + 1
    else:
        trailing = plain.find(",", end, outer.end)
        end = trailing + 1 or end
    if comma < 0 and at:
        before = outer.members[names[at - 1]].end
        comma = plain.find(",", before, start)
        text = text[:comma] + " " + text[comma + 1 :]
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    if line_end >= 0 and not text[line_start:start].strip() and not text[end:line_end].strip():
        return text[:line_start] + text[line_end + 1 :]
    return text[:start] + text[end:].removeprefix(" ")
