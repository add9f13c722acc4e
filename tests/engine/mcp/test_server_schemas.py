"""Schemas of servers' tools, as they are sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.validators import validator_for

from gemini_companion.engine.mcp.schemas import MAX_BYTES, clean_schema, clean_text
from tests.support.examples import examples

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


def declared(field: object, **around: Any) -> dict[str, Any]:
    return clean_schema({"type": "object", "properties": {"field": field}, **around})["properties"]["field"]


NAME = {"type": "string", "description": "A name."}
DEFS = {
    "name": NAME,
    "Filter<User>": NAME,
    "alias": {"$ref": "#/$defs/name"},
    "anchored": {"$anchor": "here", "type": "integer"},
    "base": {"type": "object", "properties": {"inherited": NAME}, "required": ["inherited"]},
    "derived": {"allOf": [{"$ref": "#/$defs/base"}], "properties": {"own": NAME}, "required": ["own"]},
    "steps": {"anyOf": [NAME, {"type": "null"}]},
}


@pytest.mark.parametrize(
    "field",
    [
        {"type": ["string", "null"]},
        {"type": "string", "default": "z", "examples": ["y"], "pattern": "^[a-z]+$", "format": "uri"},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2},
        {"type": "object", "additionalProperties": {"type": "object", "properties": {"formula": {"type": "string"}}}},
        {"type": "object", "patternProperties": {"^[A-Z]+$": {"type": "string"}}, "additionalProperties": False},
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 100, "multipleOf": 5},
        {"type": "string", "enum": [f"Zone/{number}" for number in range(420)]},
        {"type": "string", "enum": ["x" * 250, "y"]},
        {"enum": [1, None, True]},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "A title"},
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"not": {"type": "string"}},
    ],
)
def test_what_a_request_can_say_goes_out_as_it_came(field: dict[str, Any]) -> None:
    assert declared(field) == field


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ({"$ref": "#/$defs/name"}, NAME),
        ({"$ref": "#/$defs/alias", "description": "Mine."}, {**NAME, "description": "Mine."}),
        ({"$ref": "#/$defs/Filter%3CUser%3E"}, NAME),
        ({"$ref": "#/$defs/steps/anyOf/0"}, NAME),
        ({"$ref": "#here"}, {"type": "integer"}),
        ({"$ref": "https://x.example/s#/$defs/name"}, NAME),
        ({"$ref": "http://elsewhere/x.json"}, {}),
        ({"$ref": "#/$defs/missing"}, {}),
        ({"$ref": "#/$defs/derived"}, {
            "type": "object", "properties": {"inherited": NAME, "own": NAME}, "required": ["own", "inherited"],
        }),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, {"type": "string", "minLength": 2}),
        ({"const": 3}, {"enum": [3]}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "array", "items": [{"type": "number"}]}, {"type": "array", "prefixItems": [{"type": "number"}]}),
        ({"type": "string", "enum": ["", "a"]}, {"type": "string", "description": 'One of: an empty text, "a".'}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "minimum": 1}),
        ({"type": "object", "properties": {"a": {}}, "required": ["a", "b"]}, {
            "type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"],
        }),
        ({"type": "object", "properties": {"\0": NAME}, "additionalProperties": False}, {
            "type": "object", "properties": {}, "additionalProperties": True,
        }),
        (True, {}),
    ],
)  # fmt: skip
def test_what_refers_to_something_else_is_filled_in_and_what_cannot_be_said_is_left_open(
    field: object, sent: dict[str, Any]
) -> None:
    assert declared(field, **{"$id": "https://x.example/s", "$defs": DEFS}) == sent


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"q": NAME}, "required": ["q"]},
        {"$ref": "#/definitions/args", "definitions": {"args": {"properties": {"q": NAME}, "required": ["q"]}}},
        {"type": ["object", "null"], "properties": {"q": NAME}, "required": ["q"]},
        {"allOf": [{"type": "object", "properties": {"q": NAME}}, {"required": ["q"]}]},
    ],
)
def test_the_arguments_are_told_wherever_they_are_defined(schema: dict[str, Any]) -> None:
    assert clean_schema(schema) == {"type": "object", "properties": {"q": NAME}, "required": ["q"]}


def test_alternatives_at_the_top_stay_and_what_is_no_object_is_left_open() -> None:
    either = [{"type": "object", "properties": {"path": NAME}}, {"type": "object", "properties": {"url": NAME}}]
    assert clean_schema({"type": "object", "oneOf": either}) == {"type": "object", "anyOf": either}
    assert clean_schema({"type": "string"}) == {"type": "object"}


def test_a_type_is_known_in_capitals_and_what_is_none_is_left_open() -> None:
    fields = {"a": {"type": "STRING"}, "b": {"type": "any"}, "c": {"type": ["string", "str"]}, "d": {"type": 5}}
    assert clean_schema({"type": "OBJECT", "properties": fields}) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {}, "c": {}, "d": {}},
    }


def test_a_schema_that_holds_itself_ends_and_a_deep_one_is_cut() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}
    inner = clean_schema(node)
    for _ in range(2):
        inner = inner["properties"]["kids"]["items"]
    assert inner["properties"]["kids"]["items"] == {}
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"x": deep}}
    assert depth_of(clean_schema(deep)) < 60


REAL = json.loads((Path(__file__).resolve().parents[2] / "data" / "mcp_schemas.json").read_text("utf-8"))


def value_for(
    schema: object, root: dict[str, Any], draw: Callable[[st.SearchStrategy[Any]], Any], depth: int = 0
) -> Any:
    """Arguments as somebody gives them who reads the server's schema; they need not be right."""
    if not isinstance(schema, dict) or depth > 6:
        return draw(st.sampled_from([None, 1, "text", {}, []]))
    if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/"):
        found: Any = root
        for step in reference[2:].split("/"):
            found = found[int(step)] if isinstance(found, list) else found.get(step, {})
        return value_for(
            {**found, **{key: held for key, held in schema.items() if key != "$ref"}}, root, draw, depth + 1
        )
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return draw(st.sampled_from(schema["enum"]))
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            rest = {name: held for name, held in schema.items() if name != key}
            return value_for({**rest, **draw(st.sampled_from(schema[key]))}, root, draw, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
    match kind:
        case "object":
            fields = schema.get("properties", {})
            names = [name for name in fields if name in schema.get("required", ()) or draw(st.booleans())]
            made = {name: value_for(fields[name], root, draw, depth + 1) for name in names}
            if isinstance(more := schema.get("additionalProperties"), dict) and draw(st.booleans()):
                made["another"] = value_for(more, root, draw, depth + 1)
            return made
        case "array":
            least = schema.get("minItems", 0)
            return [
                value_for(schema.get("items"), root, draw, depth + 1) for _ in range(least + draw(st.integers(0, 2)))
            ]
        case "integer" | "number":
            low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
            return low + (1 if isinstance(low, int) else 0.5)
        case "boolean":
            return draw(st.booleans())
        case "null":
            return None
        case _:
            return draw(st.sampled_from(["text", "x" * schema.get("minLength", 1), "2026-01-02", "https://x.example/"]))


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_declared_of_a_real_server_accepts_what_the_server_accepts(name: str, data: st.DataObject) -> None:
    schema = REAL[name]
    made = clean_schema(schema)
    Draft202012Validator.check_schema(made)
    args = value_for(schema, schema, data.draw)
    if validator_for(schema, default=Draft7Validator)(schema).is_valid(args):
        Draft202012Validator(made).validate(args)


def test_references_that_multiply_do_not() -> None:
    defs: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, 30):
        below = {"$ref": f"#/$defs/d{number - 1}"}
        defs[f"d{number}"] = {"type": "object", "properties": {"a": below, "b": below}}
    made = clean_schema({"type": "object", "properties": {"x": {"$ref": "#/$defs/d29"}}, "$defs": defs})
    assert len(msgspec.json.encode(made)) <= MAX_BYTES


def test_what_is_too_large_loses_its_words_first_and_then_its_depth() -> None:
    def fields(count: int, words: str) -> dict[str, Any]:
        one = {"type": "string", "description": words}
        return {"type": "object", "properties": {f"field_{number}": one for number in range(count)}}

    assert clean_schema(fields(60, "d" * 900))["properties"]["field_59"] == {"type": "string"}
    choices = {f"f{n}": {"enum": ["e" * 190] * 90} for n in range(20)}
    deep = {"type": "object", "properties": {"named": {"type": "object", "properties": choices}}}
    assert clean_schema(deep) == {
        "type": "object",
        "properties": {"named": {"type": "object", "properties": {name: {} for name in choices}}},
    }
    assert clean_schema({"type": "object", "properties": choices})["properties"]["f0"] == {}


def test_texts_keep_what_they_have_and_what_no_request_holds_is_written_out() -> None:
    assert clean_text("a\x1b[31m\u202eb\ud800\r\nc", 50) == "a\\x1b[31m\u202eb\\ud800\r\nc"
    assert clean_text("-p\u00a0y", 50) == "-p\u00a0y"
    assert clean_text("x" * 100, 10) == "x" * 9 + "…"
    assert clean_text(7, 10) == ""
