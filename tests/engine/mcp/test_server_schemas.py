"""Schemas of servers' tools, as they are sent."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.mcp.schemas import MAX_BYTES, clean_schema, clean_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "allOf", "$ref", "$defs", "enum", "required", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


def depth_of(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth_of, inner), default=0)


@given(JSON)
def test_whatever_a_server_calls_a_schema_an_object_of_bounded_size_is_sent(schema: Any) -> None:
    made = clean_schema(schema)
    assert made["type"] == "object"
    assert len(msgspec.json.encode(made)) <= MAX_BYTES


@pytest.mark.parametrize(
    ("given_field", "sent"),
    [
        ({"type": ["string", "null"]}, {"nullable": True, "type": "string"}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"const": 3}, {"enum": [3]}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"nullable": True, "type": "string"}),
        ({"$ref": "#/$defs/name"}, {"type": "string", "description": "A name."}),
        ({"$ref": "http://elsewhere/x.json"}, {}),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, {"type": "string", "minLength": 2}),
        ({"type": "string", "$comment": "x", "examples": ["y"], "default": "z"}, {"type": "string"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_what_a_request_cannot_say_is_said_otherwise(given_field: dict[str, Any], sent: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"field": given_field},
        "$defs": {"name": {"type": "string", "description": "A name."}},
    }
    assert clean_schema(schema) == {"type": "object", "properties": {"field": sent}}


def test_a_schema_that_holds_itself_ends_and_a_deep_one_is_cut() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert clean_schema(node)["properties"]["next"]["properties"]["next"] == {}
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"x": deep}}
    assert depth_of(clean_schema(deep)) < 40


def test_references_that_multiply_do_not() -> None:
    defs: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, 30):
        below = {"$ref": f"#/$defs/d{number - 1}"}
        defs[f"d{number}"] = {"type": "object", "properties": {"a": below, "b": below}}
    made = clean_schema({"type": "object", "properties": {"x": {"$ref": "#/$defs/d29"}}, "$defs": defs})
    assert len(msgspec.json.encode(made)) <= MAX_BYTES


def test_what_is_too_large_loses_its_descriptions_first_and_then_everything() -> None:
    def fields(count: int, words: str) -> dict[str, Any]:
        one = {"type": "string", "description": words}
        return {"type": "object", "properties": {f"field_{number}": one for number in range(count)}}

    assert clean_schema(fields(60, "d" * 900))["properties"]["field_59"] == {"type": "string"}
    choices = {"type": "object", "properties": {f"f{n}": {"enum": ["e" * 190] * 90} for n in range(20)}}
    assert clean_schema(choices) == {"type": "object"}


def test_texts_lose_what_no_screen_shows() -> None:
    assert clean_text("a\x1b[31m\u202eb\ud800\nc", 50) == "ab?\nc"
    assert clean_text("gh\x1b[01;31m\x1b[Kp_x\x1b[m -p\u00a0y", 50) == "ghp_x -p y"
    assert clean_text("x" * 100, 10) == "x" * 9 + "…"
    assert clean_text(7, 10) == ""
