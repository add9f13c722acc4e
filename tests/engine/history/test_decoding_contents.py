"""The door that contents come in by."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.content import ABSENT, Content
from gemini_companion.engine.history.decode import (
    MAX_PART_DEPTH,
    decode_contents,
    decode_parts,
    decode_prompt,
)
from tests.support.examples import examples

_anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["user", "model", "\ud800", "x\udc00"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "parts",
                    "text",
                    "functionCall",
                    "functionResponse",
                    "inlineData",
                    "name",
                    "id",
                    "args",
                    "\udfff",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def nested(levels: int) -> dict[str, Any]:
    """A part of that many levels of objects."""
    part: dict[str, Any] = {}
    for _ in range(levels - 1):
        part = {"x": part}
    return part


def test_contents_come_out_as_they_went_in_with_fields_that_nobody_knows() -> None:
    raw: list[Any] = [
        {"role": "user", "parts": [{"text": "hi", "mystery": {"a": [1, None, True, 2.5]}}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "ls", "args": {}, "id": "c1", "odd": 1}, "thoughtSignature": "s"}],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "ls", "response": {"output": ""}}},
                {"inlineData": {"data": "", "mimeType": "x"}},
            ],
        },
    ]
    assert msgspec.json.decode(msgspec.json.encode(decode_contents(raw))) == raw


def test_an_empty_history_is_fine() -> None:
    assert decode_contents([]) == []


def test_a_content_without_parts_and_one_with_no_part_stay_different_json() -> None:
    without, empty = decode_contents([{"role": "user"}, {"role": "user", "parts": []}])
    assert without.parts is ABSENT
    assert msgspec.json.encode([without, empty]) == b'[{"role":"user"},{"role":"user","parts":[]}]'


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (None, "$.history"),
        ({}, "$.history"),
        (["hi"], "$.history[0]"),
        ([{}], "$.history[0].role"),
        ([{"role": "assistant"}], "$.history[0].role"),
        ([{"role": 1}], "$.history[0].role"),
        ([{"role": "user", "parts": "hi"}], "$.history[0].parts"),
        ([{"role": "user", "parts": None}], "$.history[0].parts"),
        ([{"role": "user"}, {"role": "user", "parts": [{}, 3]}], "$.history[1].parts[1]"),
        ([{"role": "user", "parts": [{"text": 5}]}], "$.history[0].parts[0].text"),
        ([{"role": "user", "parts": [{"text": None}]}], "$.history[0].parts[0].text"),
        ([{"role": "user", "parts": [{"functionCall": "x"}]}], "$.history[0].parts[0].functionCall"),
        ([{"role": "user", "parts": [{"functionCall": {}}]}], "$.history[0].parts[0].functionCall.name"),
        ([{"role": "user", "parts": [{"functionCall": {"name": 1}}]}], "$.history[0].parts[0].functionCall.name"),
        (
            [{"role": "user", "parts": [{"functionCall": {"name": "f", "id": []}}]}],
            "$.history[0].parts[0].functionCall.id",
        ),
        (
            [{"role": "user", "parts": [{"functionCall": {"name": "f", "args": []}}]}],
            "$.history[0].parts[0].functionCall.args",
        ),
        ([{"role": "user", "parts": [{"functionResponse": []}]}], "$.history[0].parts[0].functionResponse"),
        (
            [{"role": "user", "parts": [{"functionResponse": {"name": {}}}]}],
            "$.history[0].parts[0].functionResponse.name",
        ),
        ([{"role": "user", "parts": [{"inlineData": {"data": 4}}]}], "$.history[0].parts[0].inlineData.data"),
        ([{"role": "user", "parts": [{"x": math.nan}]}], "$.history[0].parts[0]"),
        ([{"role": "user", "parts": [{"x": [math.inf]}]}], "$.history[0].parts[0]"),
        ([{"role": "user", "parts": [{"x": 10**400}]}], "$.history[0].parts[0]"),
        ([{"role": "user", "parts": [{"x": {1: 2}}]}], "$.history[0].parts[0]"),
        ([{"role": "user", "parts": [{"x": b"bytes"}]}], "$.history[0].parts[0]"),
    ],
)
def test_what_is_no_content_is_refused_with_its_path(raw: object, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_contents(raw, "$.history")
    assert caught.value.path == path
    assert path in caught.value.message


def test_a_message_says_what_was_expected_and_what_was_found() -> None:
    with pytest.raises(InvalidInput, match=r"^Expected a string at \$\[0\]\.text, found a number\.$"):
        decode_parts([{"text": 5}])


def test_lone_surrogates_are_written_out_wherever_they_stand() -> None:
    raw = [
        {
            "role": "user",
            "parts": [{"text": "a\ud800b"}, {"functionCall": {"name": "f", "args": {"k\udc00": ["\udfff", "é"]}}}],
        }
    ]
    (content,) = decode_contents(raw)
    assert content.parts == (
        {"text": r"a\ud800b"},
        {"functionCall": {"name": "f", "args": {r"k\udc00": [r"\udfff", "é"]}}},
    )
    assert raw[0]["parts"][0] == {"text": "a\ud800b"}, "what the caller has is not changed"


def test_surrogates_that_are_a_pair_become_their_character() -> None:
    assert well_formed("\ud83d\ude00!") == "\U0001f600!"


def test_a_part_may_be_nested_to_the_limit_and_not_further() -> None:
    assert decode_parts([nested(MAX_PART_DEPTH)]) == (nested(MAX_PART_DEPTH),)
    with pytest.raises(InvalidInput, match="128 levels"):
        decode_parts([nested(MAX_PART_DEPTH + 1)])


def test_nesting_without_end_is_refused_and_not_followed() -> None:
    with pytest.raises(InvalidInput, match="128 levels"):
        decode_parts([nested(200_000)])


def test_a_prompt_is_a_string_or_parts() -> None:
    assert decode_prompt("hi \ud800") == ({"text": r"hi \ud800"},)
    assert decode_prompt([{"text": "hi"}]) == ({"text": "hi"},)
    with pytest.raises(InvalidInput) as caught:
        decode_prompt({"text": "hi"}, "$.prompt")
    assert caught.value.path == "$.prompt"


@settings(max_examples=examples(300))
@given(_anything)
def test_only_invalid_input_ever_escapes_and_what_passes_can_be_stored(raw: object) -> None:
    try:
        contents = decode_contents(raw)
    except InvalidInput:
        return
    assert msgspec.json.decode(msgspec.json.encode(contents), type=list[Content]) == contents


@given(st.lists(_anything, max_size=3))
def test_what_the_door_lets_through_it_lets_through_again_unchanged(raw: list[object]) -> None:
    try:
        parts = decode_parts([{"text": "first", "x": raw}])
    except InvalidInput:
        return
    assert decode_parts(list(parts)) == parts


def test_both_spellings_of_proto_json_are_read() -> None:
    written = [
        {"function_call": {"name": "ls", "args": {"mime_type": "x"}, "id": None}, "thought_signature": "-_Jk"},
        {"function_response": {"name": "ls", "response": {"function_call": 1}, "will_continue": False}, "text": None},
        {"inline_data": {"mime_type": "image/png", "data": "-_8="}, "file_data": None, "thought": None},
        {"file_data": {"mime_type": "image/png", "file_uri": "x:1"}},
        {"text": "hi", "function_call": None, "inline_data": None},
    ]
    assert list(decode_parts(written)) == [
        {"functionCall": {"name": "ls", "args": {"mime_type": "x"}}, "thoughtSignature": "+/Jk"},
        {"functionResponse": {"name": "ls", "response": {"function_call": 1}, "willContinue": False}},
        {"inlineData": {"mimeType": "image/png", "data": "+/8="}},
        {"fileData": {"mimeType": "image/png", "fileUri": "x:1"}},
        {"text": "hi"},
    ]
    both = {"functionCall": {"name": "ls"}, "function_call": {"name": "rm"}}
    assert decode_parts([both]) == ({"functionCall": {"name": "ls"}},)


def test_what_is_wrong_in_the_other_spelling_is_refused_too() -> None:
    with pytest.raises(InvalidInput, match="functionCall"):
        decode_parts([{"function_call": "ls"}])
