"""Reading parts, whatever their JSON is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.history.content import Content, merge_neighbours, model_text, user_text
from gemini_companion.engine.history.item import shape_of
from gemini_companion.engine.history.part import (
    call_of,
    has_call,
    has_response,
    is_plain_user,
    is_thought,
    is_truthy,
    media_of,
    response_of,
    response_text,
    text_of,
    visible_text,
)
from tests.support.examples import examples


@pytest.mark.parametrize("value", [{}, [], (), "x", 1, -0.5, True])
def test_what_javascript_calls_truthy_is(value: Any) -> None:
    assert is_truthy(value)


@pytest.mark.parametrize("value", [None, "", 0, 0.0, False, float("nan")])
def test_what_javascript_calls_falsy_is_not(value: Any) -> None:
    assert not is_truthy(value)


def test_an_empty_call_or_response_object_is_one_and_null_is_none() -> None:
    assert call_of({"functionCall": {}}) == {}
    assert call_of({"functionCall": "run"}) == {}
    assert call_of({"functionCall": None}) is None
    assert response_of({"functionResponse": {}}) == {}
    assert response_of({"functionResponse": None}) is None
    assert has_call(Content(role="model", parts=({"functionCall": {}},)))
    assert not has_call(Content(role="model", parts=({"functionCall": None},)))
    assert has_response(Content(role="user", parts=({"text": "x"}, {"functionResponse": {}})))


def test_a_plain_user_content_answers_no_call() -> None:
    assert is_plain_user(user_text("x"))
    assert is_plain_user(Content(role="user"))
    assert not is_plain_user(Content(role="user", parts=({"text": "x"}, {"functionResponse": {}})))
    assert not is_plain_user(model_text("x"))


def test_visible_text_is_all_text_but_the_thoughts() -> None:
    assert (
        visible_text(
            Content(role="model", parts=({"text": "a"}, {"text": "hm", "thought": True}, {"text": "b"}, {"text": 3}))
        )
        == "ab"
    )
    assert text_of({"text": 3}) is None
    assert not is_thought({"text": "x", "thought": "yes"})


def test_media_are_inline_data_or_files() -> None:
    assert media_of({"inlineData": {"mimeType": "a"}, "fileData": {"mimeType": "b"}}) == {"mimeType": "a"}
    assert media_of({"fileData": {"mimeType": "b"}}) == {"mimeType": "b"}
    assert media_of({"text": "x"}) is None


def test_a_responses_string_is_its_output_else_its_content() -> None:
    assert response_text({"response": "bare"}) == "bare"
    assert response_text({"response": {"content": "c", "output": "o"}}) == "o"
    assert response_text({"response": {"content": "c", "output": None}}) == "c"
    assert response_text({"response": {"error": "e"}}) is None
    assert response_text({}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    ["text", "thought", "functionCall", "functionResponse", "inlineData", "fileData", "thoughtSignature", "other"]
)


@given(st.sampled_from(["user", "model"]), st.lists(st.dictionaries(FIELDS, JSON, max_size=3), max_size=3))
@settings(max_examples=examples(100), deadline=None)
def test_no_part_makes_any_reader_fail(role: Any, parts: list[dict[str, Any]]) -> None:
    content = Content(role=role, parts=tuple(parts))
    shape_of(content)
    visible_text(content)
    for part in parts:
        for value in (call_of(part), response_of(part), media_of(part)):
            assert value is None or isinstance(value, dict)
        response_text(response_of(part) or {})


def test_a_content_of_another_role_or_with_parts_that_are_no_objects_is_refused() -> None:
    bad: list[Any] = [
        {"role": "system"},
        {"parts": []},
        {"role": "user", "parts": ["x"]},
        {"role": "user", "parts": {}},
    ]
    for each in bad:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(each, Content)


def test_unknown_fields_of_a_part_survive_json() -> None:
    raw = b'{"role":"model","parts":[{"text":"x","future":{"deep":[1,null]}}]}'
    assert msgspec.json.encode(msgspec.json.decode(raw, type=Content)) == raw


def test_merging_joins_neighbours_of_one_role_alone() -> None:
    merged = merge_neighbours([user_text("a"), user_text("b"), model_text("c"), user_text("d"), Content(role="user")])
    assert [(content.role, len(content.parts)) for content in merged] == [("user", 2), ("model", 1), ("user", 1)]
