"""From the SDK's objects to plain JSON that our log can hold."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.gemini.answer import MAX_DEPTH, chunk_of, part_of, plain_json
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.models.port import ModelChunk
from tests.support.examples import examples

Json = dict[str, Any]


def response(**fields: Any) -> types.GenerateContentResponse:
    return types.GenerateContentResponse.model_validate(fields)


@pytest.mark.parametrize(
    "part",
    [
        {"text": "hi"},
        {"text": ""},
        {"text": "hm", "thought": True},
        {"text": "", "thoughtSignature": "+/+/aGk="},
        {
            "functionCall": {"id": "1", "name": "ls", "args": {"path": "é", "n": 1.5, "deep": [{"a": None}, True]}},
            "thoughtSignature": "AAAA",
        },
        {"functionCall": {"name": "ls", "args": {}}},
        {"inlineData": {"mimeType": "image/png", "data": "+/+/aGk="}},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
    ],
)
def test_a_part_comes_back_as_the_json_that_it_was(part: Json):
    assert part_of(types.Part.model_validate(part)) == part


def test_a_chunk_has_parts_finish_reason_usage_and_model():
    usage = {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 4,
        "thoughtsTokenCount": 3,
        "candidatesTokenCount": 2,
        "totalTokenCount": 15,
    }
    candidate = {"content": {"role": "model", "parts": [{"text": "hi"}, {}]}, "finishReason": "STOP"}
    assert chunk_of(response(candidates=[candidate, {}], usageMetadata=usage, modelVersion="gemini-x")) == ModelChunk(
        parts=({"text": "hi"},),
        finish_reason="STOP",
        usage=Usage(prompt_tokens=10, cached_tokens=4, thought_tokens=3, output_tokens=2, total_tokens=15),
        model_version="gemini-x",
    )


def test_a_refused_prompt_is_a_chunk_with_its_reason():
    assert chunk_of(response(promptFeedback={"blockReason": "SAFETY"})) == ModelChunk(block_reason="SAFETY")


def test_an_unspecified_finish_reason_is_none():
    assert chunk_of(response(candidates=[{"finishReason": "FINISH_REASON_UNSPECIFIED"}])) == ModelChunk()


def test_an_empty_response_is_an_empty_chunk():
    assert chunk_of(response()) == ModelChunk()


def test_counts_are_never_negative():
    assert chunk_of(response(usageMetadata={"promptTokenCount": -1})).usage == Usage()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a\ud800": "b\udc00c"}, {r"a\ud800": r"b\udc00c"}),
        ("\ud83d\ude00", "😀"),
        (2**70, 2**70),
        (-(2**63) - 1, -(2**63) - 1),
        (10**1_000, 10**1_000),
        (float("nan"), None),
        ([float("inf"), True, None], [None, True, None]),
    ],
)
def test_what_no_log_can_hold_is_made_plain(value: Any, expected: Any):
    assert plain_json(value) == expected


def test_an_integer_that_nothing_reads_or_writes_becomes_text():
    assert plain_json(-(16**5_000)) == "-0x1" + "0" * 5_000


def test_an_answer_that_nests_without_end_is_refused():
    deep: Any = json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert plain_json(deep) == deep
    with pytest.raises(ModelUnavailable) as caught:
        plain_json([deep])
    assert caught.value.retryable


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
@settings(deadline=None, max_examples=examples(60))
def test_what_is_made_plain_can_be_stored_read_back_and_stays(value: Any):
    plain = plain_json(value)
    assert msgspec.json.decode(msgspec.json.encode(plain)) == plain
    assert plain_json(plain) == plain


@pytest.mark.parametrize("name", ["default_api.read_file", "default_api:read_file", "read_file"])
def test_a_call_written_as_code_is_one_of_the_tool(name: str):
    assert part_of(types.Part.model_validate({"functionCall": {"name": name, "args": {}}})) == {
        "functionCall": {"name": "read_file", "args": {}}
    }
