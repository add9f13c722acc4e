"""The codec and the published schemas give the same verdict on the same values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import inspect as mi

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol.codec import decode, encode
from gemini_companion.protocol.methods import Notification, Request, ServerRequest
from gemini_companion.protocol.to_client import METHODS
from gemini_companion.sessions.events import EVENTS
from schemas.generate.outputs import OUTPUTS
from tests.support.examples import examples

FROM_CLIENT = {
    method.params.__name__: method.params for method in METHODS if isinstance(method, Request | Notification)
} | {
    method.result.__name__: method.result
    for method in METHODS
    if isinstance(method, ServerRequest) and method.result is not None
}
FROM_SERVER = {event.__name__: event for event in EVENTS} | {
    method.result.__name__: method.result
    for method in METHODS
    if isinstance(method, Request) and method.result is not None
}
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, -1.0, 2.0])
    | st.sampled_from(["", "x", "model"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "uri", "line"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def values_of(kind: mi.Type) -> st.SearchStrategy[Any]:
    """Values that the type takes, as builtins."""
    match kind:
        case mi.Metadata(type=inner):
            return values_of(inner)
        case mi.StructType():
            required = {field.encode_name: values_of(field.type) for field in kind.fields if field.required}
            optional = {field.encode_name: values_of(field.type) for field in kind.fields if not field.required}
            tag = {kind.tag_field: st.just(kind.tag)} if kind.tag_field else {}
            return st.fixed_dictionaries(required | tag, optional=optional)  # type: ignore[arg-type]
        case mi.UnionType(types=members):
            return st.one_of([values_of(member) for member in members])
        case mi.LiteralType(values=values):
            return st.sampled_from(list(values))
        case mi.TupleType(item_types=items):
            return st.tuples(*map(values_of, items)).map(list)
        case mi.DictType(value_type=value):
            return st.dictionaries(st.text(max_size=3), values_of(value), max_size=2)
        case mi.CollectionType(item_type=item):
            return st.lists(values_of(item), max_size=2)
        case mi.IntType(ge=low, le=high):
            return st.integers(-(2**40) if low is None else low, 2**40 if high is None else high)
        case mi.FloatType():
            return st.floats(0, 1)
        case mi.StrType(min_length=shortest, max_length=longest):
            return st.text(min_size=shortest or 0, max_size=min(longest or 8, 8))
        case mi.BoolType():
            return st.booleans()
        case mi.NoneType():
            return st.none()
        case mi.AnyType():
            return ANYTHING
        case _:
            raise TypeError(kind)


@st.composite
def nearly(draw: st.DrawFn, valid: st.SearchStrategy[Any]) -> Any:
    """A valid value with one place in it dropped, renamed or replaced, or as it is."""
    value = draw(valid)
    holder: Any = {"value": value}
    key: Any = "value"
    while isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 3)):
        holder = holder[key]
        key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
        if holder is value and key == "type":
            return value
    match draw(st.sampled_from(["as it is", "dropped", "replaced", "more"])):
        case "dropped" if holder is not value or key != "value":
            del holder[key]
        case "replaced":
            if key == "value" and holder.get("value") is value:
                return draw(ANYTHING)
            holder[key] = draw(ANYTHING)
        case "more" if isinstance(holder, dict):
            holder["unknown"] = draw(ANYTHING)
        case _:
            pass
    return value


@pytest.fixture(scope="module")
def validator() -> Callable[[str], Draft202012Validator]:
    parts = json.loads(OUTPUTS["schemas/openrpc.json"]())["components"]
    return lambda name: Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": parts})


def takes(kind: Any, value: object) -> bool:
    try:
        decode(kind, value)
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize("name", FROM_CLIENT)
@settings(
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(data=st.data())
def test_a_client_s_value_is_taken_by_both_or_by_neither(
    name: str, data: st.DataObject, validator: Callable[[str], Draft202012Validator]
):
    kind = FROM_CLIENT[name]
    value = data.draw(nearly(values_of(mi.type_info(kind))))
    assert takes(kind, value) is validator(name).is_valid(value), value


@pytest.mark.parametrize("name", FROM_SERVER)
@settings(
    max_examples=examples(15),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(data=st.data())
def test_what_the_server_sends_is_what_its_schema_says(
    name: str, data: st.DataObject, validator: Callable[[str], Draft202012Validator]
):
    kind = FROM_SERVER[name]
    sent = msgspec.json.encode(decode(kind, data.draw(values_of(mi.type_info(kind)))))
    validator(name).validate(json.loads(sent))
    assert encode(decode(kind, json.loads(sent))) == json.loads(sent)
