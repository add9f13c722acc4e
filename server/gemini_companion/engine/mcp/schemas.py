"""JSON Schemas of servers' tools, made fit for a request: one object, references resolved, bounded in every way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import msgspec

MAX_BYTES: Final = 16_384
"""Bytes of one schema in a request."""
_MAX_DEPTH: Final = 12
_MAX_NODES: Final = 400
_MAX_FIELDS: Final = 100
_MAX_CHOICES: Final = 100
_MAX_DESCRIPTION: Final = 1_000
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_NUMBERS: Final = ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength")
_OF_TERMINALS: Final = re.compile(r"\x1b\[[0-9;:?]{0,32}[A-Za-z]")
_ANYTHING: Final[dict[str, Any]] = {"type": "object"}


def clean_schema(schema: object) -> dict[str, Any]:
    """The schema as it is sent: always an object's. What a schema cannot say here is left to the server to refuse."""
    if not isinstance(schema, dict):
        return dict(_ANYTHING)
    whole = cast("dict[str, Any]", schema)
    for with_descriptions in (True, False):
        made = _Cleaning(whole, with_descriptions).of(whole, 0, ())
        made["type"] = "object"
        for not_at_the_top in ("anyOf", "items", "enum", "format", "nullable", "default"):
            made.pop(not_at_the_top, None)
        if len(msgspec.json.encode(made)) <= MAX_BYTES:
            return made
    return dict(_ANYTHING)


def clean_text(text: object, longest: int) -> str:
    """A text of a server's: no half characters, no colours or control characters but line breaks, bounded."""
    if not isinstance(text, str):
        return ""
    kept = text[: longest + 1].encode("utf-8", "replace").decode()
    kept = _OF_TERMINALS.sub("", kept)  # as a whole: what is left of one would break the words that it stands in
    kept = "".join(
        sign if sign in "\n\t" or sign.isprintable() else " " * sign.isspace() for sign in kept if sign != "\r"
    )
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


class _Cleaning:
    def __init__(self, whole: Mapping[str, Any], with_descriptions: bool) -> None:
        self._whole = whole
        self._with_descriptions = with_descriptions
        self._nodes = 0

    def of(self, node: object, depth: int, through: tuple[str, ...]) -> dict[str, Any]:
        self._nodes += 1
        if not isinstance(node, dict) or depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            return {}
        fields = cast("dict[str, Any]", node)
        reference = fields.get("$ref")
        if isinstance(reference, str):
            if reference in through:
                return {}
            named = self._resolved(reference)
            beside = {key: held for key, held in fields.items() if key != "$ref"}
            return self.of({**named, **beside}, depth + 1, (*through, reference))
        fields = self._joined(fields)
        made: dict[str, Any] = {}
        self._take_type(fields, made)
        if self._with_descriptions and (words := clean_text(fields.get("description"), _MAX_DESCRIPTION)):
            made["description"] = words
        if isinstance(fields.get("format"), str) and len(fields["format"]) <= 40:
            made["format"] = fields["format"]
        for key in _NUMBERS:
            if isinstance(fields.get(key), int | float) and not isinstance(fields[key], bool):
                made[key] = fields[key]
        choices = [fields["const"]] if "const" in fields else fields.get("enum")
        if isinstance(choices, list):
            plain = [one for one in cast("list[object]", choices)[:_MAX_CHOICES] if _is_plain(one)]
            if plain:
                made["enum"] = plain
        self._take_fields(fields, made, depth, through)
        if made.get("type") == "array" or "items" in fields:
            items = self.of(fields.get("items"), depth + 1, through)
            if items or made.get("type") == "array":
                made["items"] = items or {"type": "string"}
        self._take_alternatives(fields, made, depth, through)
        return made

    def _take_type(self, fields: Mapping[str, Any], made: dict[str, Any]) -> None:
        kind = fields.get("type")
        if isinstance(kind, list):
            kinds = [one for one in cast("list[object]", kind) if isinstance(one, str) and one in _TYPES]
            if "null" in kinds:
                made["nullable"] = True
            kinds = [one for one in dict.fromkeys(kinds) if one != "null"]
            if len(kinds) == 1:
                made["type"] = kinds[0]
            elif kinds:
                made["anyOf"] = [{"type": one} for one in kinds]
        elif isinstance(kind, str) and kind in _TYPES:
            made["type"] = kind
        elif "properties" in fields:
            made["type"] = "object"

    def _take_fields(
        self, fields: Mapping[str, Any], made: dict[str, Any], depth: int, through: tuple[str, ...]
    ) -> None:
        properties = fields.get("properties")
        if not isinstance(properties, dict):
            return
        kept = {
            name: self.of(field, depth + 1, through)
            for name, field in list(cast("dict[Any, Any]", properties).items())[:_MAX_FIELDS]
            if isinstance(name, str) and 0 < len(name) <= 128 and name.isprintable()
        }
        made["properties"] = kept
        required = fields.get("required")
        if isinstance(required, list):
            names = [name for name in cast("list[object]", required) if isinstance(name, str) and name in kept]
            if names:
                made["required"] = list(dict.fromkeys(names))

    def _take_alternatives(
        self, fields: Mapping[str, Any], made: dict[str, Any], depth: int, through: tuple[str, ...]
    ) -> None:
        given = fields.get("anyOf", fields.get("oneOf"))
        if not isinstance(given, list):
            return
        choices = [self.of(one, depth + 1, through) for one in cast("list[object]", given)[:_MAX_CHOICES]]
        if {"type": "null"} in choices:
            made["nullable"] = True
        choices = [one for one in choices if one and one != {"type": "null"}]
        if len(choices) == 1:
            for key, held in choices[0].items():
                made.setdefault(key, held)
        elif choices:
            made["anyOf"] = choices

    def _joined(self, fields: dict[str, Any]) -> dict[str, Any]:
        """What `allOf` says beside the rest; fields and required names of all."""
        parts = fields.get("allOf")
        if not isinstance(parts, list):
            return fields
        joined = {key: held for key, held in fields.items() if key != "allOf"}
        for part in self._plain_parts(cast("list[object]", parts)):
            for key, held in part.items():
                if key == "properties" and isinstance(held, dict) and isinstance(joined.get(key), dict):
                    joined[key] = {**held, **joined[key]}
                elif key == "required" and isinstance(held, list) and isinstance(joined.get(key), list):
                    joined[key] = [*joined[key], *cast("list[object]", held)]
                else:
                    joined.setdefault(key, held)
        return joined

    def _plain_parts(self, parts: list[object]) -> Iterator[dict[str, Any]]:
        for part in parts[:20]:
            self._nodes += 1
            if isinstance(part, dict):
                fields = cast("dict[str, Any]", part)
                reference = fields.get("$ref")
                yield self._resolved(reference) if isinstance(reference, str) else fields

    def _resolved(self, reference: str) -> dict[str, Any]:
        """What a reference within the schema names; nothing for any other."""
        if not reference.startswith("#"):
            return {}
        found: Mapping[str, Any] = self._whole
        for step in reference[1:].split("/")[1:20]:
            inner = found.get(step.replace("~1", "/").replace("~0", "~"))
            found = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
        return dict(found)


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 200)
