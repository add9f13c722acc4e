"""JSON Schemas of servers' tools, made fit for a request: they go out as they came, with references filled in.

Whatever is changed here is changed so that what is declared accepts all that the server accepts: an obedient model must
not be led into a call that fails. Where something must be left out, the place is left open. What is too large loses its
words first, then its depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec

from gemini_companion.engine.escapes import for_model

MAX_BYTES: Final = 16_384
"""Bytes of one schema in a request."""
_DEPTHS: Final = (24, 8, 6, 4, 3, 2, 1, 0)
_MAX_NODES: Final = 2_000
_MAX_TIMES: Final = 2
"""How often a definition is filled in below itself; below that the place is open."""
_MAX_DESCRIPTION: Final = 1_000
_MAX_NAMED: Final = 400
"""Characters of choices that are told in words."""
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_ANYTHING: Final[dict[str, Any]] = {"type": "object"}
_ALL_THEIRS: Final = ("$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$vocabulary")
"""What only says how the rest is to be read, or is filled in where it is meant."""
_WORDS: Final = ("title", "examples", "default", "deprecated", "readOnly", "writeOnly", "markdownDescription")
_COUNTERS: Final = ("unevaluatedProperties", "unevaluatedItems", "maxContains", "minContains", "contains")
"""What counts matches of other parts: it would forbid something as soon as one of them is changed."""
_LISTS: Final = ("anyOf", "oneOf", "prefixItems")
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_ONE: Final = ("items", "additionalProperties", "propertyNames", "additionalItems")
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})
_AS_THEY_ARE: Final = ("not", "if", "then", "else", "dependencies")


def clean_schema(schema: object) -> dict[str, Any]:
    """The schema as it is sent: always an object's, since arguments are one."""
    if not isinstance(schema, dict):
        return dict(_ANYTHING)
    whole = cast("dict[str, Any]", schema)
    for depth in _DEPTHS:
        for with_words in (True, False):
            made = _Cleaning(whole, with_words, depth).of(whole, 0, ())
            kind = made.get("type", "object")
            if kind != "object" and not (isinstance(kind, list) and "object" in kind):
                return dict(_ANYTHING)
            made = {"type": "object", **{key: held for key, held in made.items() if key not in ("type", "nullable")}}
            if len(msgspec.json.encode(made)) <= MAX_BYTES:
                return made
    return dict(_ANYTHING)


def clean_text(text: object, longest: int) -> str:
    """A text of a server's as a model is shown it, bounded."""
    if not isinstance(text, str):
        return ""
    kept = for_model(text[: longest + 1])
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


class _Cleaning:
    def __init__(self, whole: Mapping[str, Any], with_words: bool, depth: int) -> None:
        self._whole = whole
        self._with_words = with_words
        self._depth = depth
        self._nodes = 0

    def of(self, node: object, depth: int, through: tuple[str, ...]) -> dict[str, Any]:
        self._nodes += 1
        if not isinstance(node, dict) or depth > self._depth or self._nodes > _MAX_NODES:
            return {}
        fields, through = self._filled_in(cast("dict[str, Any]", node), through)
        made: dict[str, Any] = {}
        for key, held in fields.items():
            if key in _ALL_THEIRS or key in _COUNTERS or (key in _WORDS and not self._with_words):
                continue
            if key in _LISTS or key in _MAPS or key in _ONE:
                self._take_schemas(key, held, made, depth, through)
            elif key == "description":
                if self._with_words and (words := clean_text(held, _MAX_DESCRIPTION)):
                    made[key] = words
            elif key in _AS_THEY_ARE:
                if _is_plain(held) and b"$ref" not in msgspec.json.encode(held):
                    made[key] = held
            elif key in ("enum", "const"):
                continue
            elif key == "type":
                # Some write `STRING`, as Gemini's own schemas do, or `any`: a service refuses what is no type.
                types = cast("list[object]", held) if isinstance(held, list) else [held]
                known = [one.lower() for one in types if isinstance(one, str) and one.lower() in _TYPES]
                if known and len(known) == len(types):
                    made[key] = known if isinstance(held, list) else known[0]
            elif key in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(held, bool):
                continue  # of an old draft
            elif _is_plain(key) and _is_plain(held):
                made[key] = held
        if not {"if"} <= made.keys():
            made.pop("then", None)
            made.pop("else", None)
        self._take_choices(fields, made)
        self._take_required(fields, made)
        return made

    def _take_schemas(self, key: str, held: object, made: dict[str, Any], depth: int, through: tuple[str, ...]) -> None:
        if key == "items" and isinstance(held, list):  # a tuple of the older drafts
            key = "prefixItems"
        if key in _LISTS:
            choices = cast("list[object]", held) if isinstance(held, list) else []
            inner = [self.of(one, depth + 1, through) for one in choices if one is not False or key == "prefixItems"]
            if inner:
                made["anyOf" if key == "oneOf" else key] = (
                    inner  # that only one fits cannot be said of what was changed
                )
        elif key in _MAPS:
            members = cast("dict[object, object]", held) if isinstance(held, dict) else {}
            kept = {
                name: self.of(one, depth + 1, through)
                for name, one in members.items()
                if isinstance(name, str) and _is_plain(name) and one is not False
            }
            made[key] = kept
            if len(kept) != len(members):  # what was left out may be given all the same
                made["additionalProperties"] = True
        elif isinstance(held, dict):
            if key == "additionalItems":
                made.setdefault("items", self.of(cast("object", held), depth + 1, through))
            elif key != "additionalProperties" or made.get(key) is not True:
                made[key] = self.of(cast("object", held), depth + 1, through)
        elif key == "additionalProperties" and isinstance(held, bool):
            made.setdefault(key, held)

    def _take_choices(self, fields: Mapping[str, Any], made: dict[str, Any]) -> None:
        """The values that there are. Services take no empty one: such a choice is told in words, and left open."""
        choices = [fields["const"]] if "const" in fields else fields.get("enum")
        if not isinstance(choices, list) or not choices:
            return
        values = cast("list[object]", choices)
        if all(one != "" and _is_plain(one) for one in values):
            made["enum"] = values
        elif self._with_words:
            named = ", ".join("an empty text" if one == "" else msgspec.json.encode(one).decode() for one in values)
            words = clean_text(f"{made.get('description', '')} One of: {named}.".strip(), _MAX_DESCRIPTION + _MAX_NAMED)
            made["description"] = words

    def _take_required(self, fields: Mapping[str, Any], made: dict[str, Any]) -> None:
        required, properties = fields.get("required"), made.get("properties")
        made.pop("required", None)
        if not isinstance(required, list):
            return
        names = [one for one in cast("list[object]", required) if isinstance(one, str) and _is_plain(one)]
        if names:
            made["required"] = list(dict.fromkeys(names))
        if isinstance(properties, dict):
            for name in names:
                cast("dict[str, Any]", properties).setdefault(name, {})

    def _filled_in(self, fields: dict[str, Any], through: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """What the node says with what it refers to, and with what `allOf` adds."""
        parts: list[dict[str, Any]] = []
        pending: list[object] = [fields]
        while pending and len(parts) < _MAX_NODES:
            one = pending.pop(0)
            self._nodes += 1
            if not isinstance(one, dict) or self._nodes > _MAX_NODES:
                continue
            part = cast("dict[str, Any]", one)
            parts.append({key: held for key, held in part.items() if key not in ("$ref", "allOf")})
            reference = part.get("$ref")
            if isinstance(reference, str) and through.count(reference) < _MAX_TIMES:
                through = (*through, reference)
                pending.append(self._resolved(reference))
            if isinstance(part.get("allOf"), list):
                pending += cast("list[object]", part["allOf"])
        return _joined(parts), through

    def _resolved(self, reference: str) -> object:
        """What a reference within the schema names; nothing for any other."""
        own = self._whole.get("$id")
        if isinstance(own, str) and own:
            reference = reference.removeprefix(own.removesuffix("#"))
        if not reference.startswith("#"):
            return None
        pointer = unquote(reference[1:])
        if pointer and not pointer.startswith("/"):
            return next((one for one in _nodes_of(self._whole) if one.get("$anchor") == pointer), None)
        found: object = self._whole
        for step in pointer.split("/")[1:40]:
            if isinstance(found, dict):
                found = cast("dict[str, object]", found).get(step.replace("~1", "/").replace("~0", "~"))
            elif isinstance(found, list) and step.isdecimal() and len(step) < 5:
                found = next(iter(cast("list[object]", found)[int(step) : int(step) + 1]), None)
            else:
                return None
        return found


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What several schemas say that all hold: fields and required names of all, of the rest what is said first.

    To leave out what another one says of the same forbids less, never more.
    """
    joined = dict(parts[0]) if parts else {}
    for part in parts[1:]:
        for key, held in part.items():
            there = joined.get(key)
            if key in ("properties", "patternProperties") and isinstance(held, dict) and isinstance(there, dict):
                joined[key] = {**held, **there}
            elif key == "required" and isinstance(held, list) and isinstance(there, list):
                joined[key] = [*there, *cast("list[object]", held)]
            elif key in _AS_THEY_ARE and key != "not":
                continue
            else:
                joined.setdefault(key, held)
    return joined


def _nodes_of(value: object) -> Iterator[dict[str, Any]]:
    """Every object in it."""
    pending: list[object] = [value]
    for _ in range(10 * _MAX_NODES):
        if not pending:
            return
        one = pending.pop()
        if isinstance(one, dict):
            fields = cast("dict[str, Any]", one)
            yield fields
            pending += fields.values()
        elif isinstance(one, list):
            pending += cast("Iterable[object]", one)


def _is_plain(value: object) -> bool:
    """Whether every reader of JSON takes it."""
    if isinstance(value, str):
        return not _NO_TEXT.search(value)
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(held) for key, held in cast("dict[object, object]", value).items())
    return not isinstance(value, list) or all(map(_is_plain, cast("list[object]", value)))
