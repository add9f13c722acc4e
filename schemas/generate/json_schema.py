"""JSON Schema (2020-12) of Structs: msgspec's own, with the descriptions of the fields added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from schemas.generate import docstrings, reachable

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def components(types: Sequence[Any], prefix: str) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """A schema for each of `types`, and the named ones that they refer to as `prefix` + name, sorted by name."""
    schemas, named = msgspec.json.schema_components(list(types), ref_template=prefix + "{name}")
    classes = reachable.by_name(types)
    for name, schema in named.items():
        _describe(schema, classes[name])
    return list(schemas), dict(sorted(named.items()))


def document(root: type[msgspec.Struct], title: str) -> dict[str, Any]:
    """A whole schema file for one type."""
    (schema,), named = components([root], "#/$defs/")
    return {
        "$schema": DIALECT,
        "$comment": NOTICE,
        "title": title,
        "description": docstrings.of_struct(root),
        **schema,
        "$defs": named,
    }


NOTICE = "Generated from the server's types by `python -m schemas.generate`. Do not edit."


def _describe(schema: dict[str, Any], cls: type[msgspec.Struct]) -> None:
    if text := docstrings.of_struct(cls):
        schema["description"] = text
    else:
        schema.pop("description", None)
    texts = docstrings.of_fields(cls)
    for field in msgspec.structs.fields(cls):
        if text := texts.get(field.name):
            schema["properties"][field.encode_name]["description"] = text
