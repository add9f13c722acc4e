"""What models are told of tools."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from gemini_companion.sessions.tools.background import Commands
from gemini_companion.tools.schema import parameters_of
from gemini_companion.wiring.tools import build_tools

KEYWORDS = {
    "type", "format", "description", "enum", "minItems", "maxItems", "minimum", "maximum", "required", "properties",
    "items", "anyOf",
}  # fmt: skip


class Inner(msgspec.Struct):
    name: Annotated[str, Meta(description="A name.", max_length=3)]


class Args(msgspec.Struct):
    pattern: Annotated[str, Meta(description="What to find.", pattern="^a")]
    inner: list[Inner]
    title: Annotated[int, Meta(description="A number.", ge=1)] | None = None


def test_arguments_are_one_plain_object() -> None:
    assert parameters_of(Args) == {
        "type": "object",
        "required": ["pattern", "inner"],
        "properties": {
            "pattern": {"type": "string", "description": "What to find."},
            "inner": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string", "description": "A name."}},
                },
            },
            "title": {"type": "integer", "minimum": 1, "description": "A number."},
        },
    }


DECLARED = {declared["name"]: declared for declared in build_tools(Commands()).declarations()}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declaration_has_only_what_the_service_knows(name: str) -> None:
    def check(schema: dict[str, Any]) -> None:
        assert set(schema) <= KEYWORDS
        for field in schema.get("properties", {}).values():
            check(field)
        for choice in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])):
            check(choice)

    check(DECLARED[name]["parametersJsonSchema"])
    assert DECLARED[name]["description"]
    assert all("description" in field for field in DECLARED[name]["parametersJsonSchema"]["properties"].values())
