"""Decoding contents: JSON from a client, a file or a model becomes `Content`s, or `InvalidInput` names the place.

In what is decoded a part's `text` is a string, its calls, responses and media are objects with fields of the right
type, every string can be encoded as UTF-8, every number is finite, and nothing is nested so deep that a recursive
reader could fail. Fields may be spelt as in JSON of the API or as google-genai for Python writes them, as proto JSON
allows; what comes back is spelt as the API spells it. Unknown fields pass as they are.
"""

from __future__ import annotations

import math
from typing import Any, Final, cast

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.content import ABSENT, Content, Part, Role

MAX_PART_DEPTH: Final = 128
"""Levels of objects and arrays within one part, itself included; the protocol's bound for a message is the same."""

_MAX_INTEGER_BITS: Final = 1023
"""A larger whole number is no finite double, and nearly every JSON reader takes numbers for doubles."""

_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "model"}

_OBJECT_FIELDS: Final[dict[str, tuple[tuple[str, type, bool], ...]]] = {
    "functionCall": (("name", str, True), ("id", str, False), ("args", dict, False)),
    "functionResponse": (("name", str, False), ("id", str, False)),
    "inlineData": (("mimeType", str, False), ("data", str, False)),
    "fileData": (("mimeType", str, False), ("fileUri", str, False)),
}
"""For each field of a part that must be an object: names that are read in it, their type, whether each is required."""

_OTHER_SPELLINGS: Final = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "thought_signature": "thoughtSignature",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "tool_call": "toolCall",
    "tool_response": "toolResponse",
    "video_metadata": "videoMetadata",
    "media_resolution": "mediaResolution",
    "part_metadata": "partMetadata",
    "mime_type": "mimeType",
    "file_uri": "fileUri",
    "tool_type": "toolType",
    "will_continue": "willContinue",
    "start_offset": "startOffset",
    "end_offset": "endOffset",
}
"""Of a part's fields and of their fields, but not of arguments, answers and metadata, which are the person's own."""
_OF_OTHERS: Final = frozenset({"args", "response", "partMetadata", "part_metadata"})
_BYTES: Final = frozenset({"data", "thoughtSignature"})
_TO_STANDARD_BASE64: Final = str.maketrans("-_", "+/")

_TYPE_NAMES: Final[dict[type, str]] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def decode_contents(raw: object, path: str = "$") -> list[Content]:
    """The contents in a JSON array, e.g. `[{"role": "user", "parts": [{"text": "hi"}]}]`. An empty array is fine.

    `path` is the place of `raw` in the input. Raises `InvalidInput` whose `path` names the place below it, as in
    `$.history[3].parts[0].text`. Parts are not copied unless a string in them had to be replaced.
    """
    if not isinstance(raw, list):
        raise mismatch("an array of contents", raw, path)
    return [decode_content(item, f"{path}[{index}]") for index, item in enumerate(cast("list[object]", raw))]


def decode_content(raw: object, path: str = "$") -> Content:
    """One content. Fields other than `role` and `parts` are ignored. Raises `InvalidInput`."""
    if not isinstance(raw, dict):
        raise mismatch("a content (an object with role and parts)", raw, path)
    content = cast("dict[str, object]", raw)
    role = content.get("role")
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None:
        place = f"{path}.role"
        if isinstance(role, str):
            shown = well_formed(role[:40])
            raise InvalidInput(f"Expected the role user or model at {place}, found {shown!r}.", path=place)
        raise mismatch("the role user or model", role, place) if "role" in content else _missing("role", path)
    if "parts" not in content:
        return Content(role=known, parts=ABSENT)
    return Content(role=known, parts=decode_parts(content["parts"], f"{path}.parts"))


def decode_parts(raw: object, path: str = "$") -> tuple[Part, ...]:
    """The parts in a JSON array. Raises `InvalidInput`."""
    if not isinstance(raw, list):
        raise mismatch("an array of parts", raw, path)
    return tuple([_decode_part(item, path, index) for index, item in enumerate(cast("list[object]", raw))])


def decode_prompt(raw: object, path: str = "$") -> tuple[Part, ...]:
    """The parts of a prompt: a string, or an array of parts. Raises `InvalidInput`."""
    if isinstance(raw, str):
        return ({"text": well_formed(raw)},)
    if not isinstance(raw, list):
        raise mismatch("a string or an array of parts", raw, path)
    return decode_parts(cast("list[object]", raw), path)


def mismatch(expected: str, found: object, path: str) -> InvalidInput:
    """The fault of a value of another JSON type; `expected` is a noun phrase (`"a string"`), `path` where it stands."""
    name = _TYPE_NAMES.get(type(found), "something that is no JSON")
    return InvalidInput(f"Expected {expected} at {path}, found {name}.", path=path)


def _missing(field: str, path: str) -> InvalidInput:
    return InvalidInput(f"The field {path}.{field} is missing.", path=f"{path}.{field}")


def _decode_part(raw: object, path: str, index: int) -> Part:
    if not isinstance(raw, dict):
        raise mismatch("a part (an object)", raw, f"{path}[{index}]")
    part = cast("Part", raw)
    if len(part) == 1 and type(text := part.get("text")) is str and (text.isascii() or _is_encodable(text)):
        return part  # nearly every part of a dialogue
    if not _OTHER_SPELLINGS.keys().isdisjoint(part):
        part = _respelt(part)
    here = f"{path}[{index}]"
    if "text" in part and not isinstance(part["text"], str):
        raise mismatch("a string", part["text"], f"{here}.text")
    for field, members in _OBJECT_FIELDS.items():
        if field in part:
            _check_object(part[field], members, f"{here}.{field}")
    return cast("Part", _replaced(part)) if _is_to_be_replaced(part, here) else part


def _respelt(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as the API spells them, without those that say nothing; its own spelling wins."""
    made: dict[str, Any] = {}
    for name, value in fields.items():
        known = _OTHER_SPELLINGS.get(name, name)
        if value is None or (known != name and fields.get(known) is not None):
            continue
        if isinstance(value, dict) and name not in _OF_OTHERS:
            value = _respelt(cast("dict[str, Any]", value))
        elif isinstance(value, list) and name == "parts":
            items = cast("list[Any]", value)
            value = [_respelt(cast("dict[str, Any]", one)) if isinstance(one, dict) else one for one in items]
        elif isinstance(value, str) and known in _BYTES:
            value = value.translate(_TO_STANDARD_BASE64)  # Python's writes the URL-safe alphabet
        made[known] = value
    return made


def _check_object(value: object, members: tuple[tuple[str, type, bool], ...], path: str) -> None:
    if not isinstance(value, dict):
        raise mismatch("an object", value, path)
    fields = cast("dict[str, object]", value)
    for name, kind, is_required in members:
        member = fields.get(name)
        if isinstance(member, kind) or (member is None and not is_required):
            continue
        raise mismatch(_TYPE_NAMES[kind], member, f"{path}.{name}") if name in fields else _missing(name, path)


def _is_to_be_replaced(part: Part, path: str) -> bool:
    """True if a string in the part cannot be encoded. Raises `InvalidInput` for what is no JSON. Not recursive."""
    is_dirty = False
    pending: list[tuple[dict[str, Any] | list[Any], int]] = [(part, 1)]
    while pending:
        holder, depth = pending.pop()
        if depth > MAX_PART_DEPTH:
            raise InvalidInput(f"The part at {path} is nested more than {MAX_PART_DEPTH} levels deep.", path=path)
        children: Any = holder
        if isinstance(holder, dict):
            for key in holder:
                if type(key) is not str:
                    raise mismatch("names that are strings", key, path)
                is_dirty = is_dirty or not (key.isascii() or _is_encodable(key))
            children = holder.values()
        for child in children:
            kind = cast("type[object]", type(child))
            if kind is str:
                is_dirty = is_dirty or not (child.isascii() or _is_encodable(child))
            elif kind is dict or kind is list:
                pending.append((child, depth + 1))
            elif (kind is float and not math.isfinite(child)) or (
                kind is int and child.bit_length() > _MAX_INTEGER_BITS
            ):
                raise InvalidInput(f"A number in the part at {path} is too large for JSON or is none.", path=path)
            elif kind not in _TYPE_NAMES:
                raise mismatch("plain JSON", child, path)
    return is_dirty


def _replaced(value: Any) -> Any:
    """A copy in which every string is well formed. Recursive: the depth has been checked."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_replaced(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {well_formed(key): _replaced(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
