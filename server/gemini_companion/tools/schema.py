"""JSON Schemas of arguments, as the Gemini API takes them: one object, no references, the keywords that it knows."""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

_KNOWN: Final = ("type", "format", "description", "enum", "minItems", "maxItems", "minimum", "maximum", "required")
"""Keywords that go along as they are. The others are checked here alone, when a call is decoded."""
_DEEPEST: Final = 12


def parameters_of(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of a tool's arguments: `type`, `properties`, `required`; descriptions come from `msgspec.Meta`."""
    (schema,), components = msgspec.json.schema_components([arguments])
    whole = _plain(schema, components, 0)
    whole.pop("description", None)
    return whole


def _plain(schema: dict[str, Any], components: dict[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        raise ValueError("arguments are nested too deeply, or hold themselves")
    if reference := schema.get("$ref"):
        named = components[str(reference).rpartition("/")[2]]
        return _plain({**named, **{key: schema[key] for key in schema if key != "$ref"}}, components, depth + 1)
    plain = {key: schema[key] for key in _KNOWN if key in schema}
    if "properties" in schema:
        fields = cast("dict[str, dict[str, Any]]", schema["properties"])
        plain["properties"] = {name: _plain(field, components, depth + 1) for name, field in fields.items()}
    if isinstance(schema.get("items"), dict):
        plain["items"] = _plain(schema["items"], components, depth + 1)
    choices = [_plain(choice, components, depth + 1) for choice in schema.get("anyOf", ())]
    choices = [choice for choice in choices if choice != {"type": "null"}]  # leaving an argument out is enough
    if len(choices) == 1:
        return {**choices[0], **plain}
    return {**plain, "anyOf": choices} if choices else plain
