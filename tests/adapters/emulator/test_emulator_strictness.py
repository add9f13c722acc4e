"""What the emulator refuses, as the real API would: each a mistake that a client of ours could make."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.emulator.errors import ApiError
from tests.support.emulator.validation import check_count, check_generate
from tests.support.examples import examples

Json = dict[str, Any]

CALL: Json = {"functionCall": {"id": "1", "name": "ls", "args": {}}, "thoughtSignature": "AAAA"}
RESULT: Json = {"functionResponse": {"id": "1", "name": "ls", "response": {"output": "a"}}}


def user(*parts: Any) -> Json:
    return {"role": "user", "parts": [part if isinstance(part, dict) else {"text": part} for part in parts]}


def model(*parts: Any) -> Json:
    return {**user(*parts), "role": "model"}


def refused(check: Callable[[], None]) -> str | None:
    error: ApiError | None = None
    try:
        check()
    except ApiError as caught:
        error = caught
    assert error is None or (error.code, error.status) == (400, "INVALID_ARGUMENT")
    return error.message if error else None


def refusal(*contents: Any, signed: bool = False, **extra: Any) -> str | None:
    return refused(lambda: check_generate({"contents": list(contents), **extra}, signed_calls=signed))


def test_a_well_formed_conversation_is_taken():
    contents = [
        user("hi"),
        model("hello"),
        user("list"),
        model("sure", CALL),
        user(RESULT),
        model({"text": "", "thoughtSignature": "AA=="}),
        user("thanks"),
    ]
    tools = [{"functionDeclarations": [{"name": "ls", "description": "d", "parametersJsonSchema": {"type": "object"}}]}]
    assert (
        refusal(
            *contents,
            signed=True,
            tools=tools,
            systemInstruction={"parts": [{"text": "x"}]},
            generationConfig={"temperature": 0},
        )
        is None
    )


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([], "contents is not specified"),
        ([{"role": "user", "parts": []}], "must not be empty"),
        ([{"role": "user"}], "must not be empty"),
        ([user({})], "must have one initialized field"),
        ([user({"thoughtSignature": "AAAA"})], "must have one initialized field"),
        ([user({"text": ""})], "must not be empty"),
        ([user({"text": 5})], "TYPE_STRING"),
        ([user({"text": "a", "callIndex": 1})], "Unknown name \"callIndex\" at 'contents[0].parts[0]'"),
        ([user({"text": "a", "inlineData": {}})], "oneof field 'data' is already set"),
        ([user({"inlineData": {"mimeType": "image/png", "data": "%"}})], "Base64 decoding failed"),
        ([user({"inlineData": {"mimeType": "image/png", "displayName": "x"}})], 'Unknown name "displayName"'),
        ([user({"inlineData": "x"})], "an object is expected"),
        ([{"role": "system", "parts": [{"text": "a"}]}], "valid role"),
        ([{"parts": [{"text": "a"}]}], "valid role"),
        ([{"role": "user", "parts": "a"}], "a list is expected"),
        (["a"], "an object is expected"),
        ([model("a"), user("b")], "starts with a user turn"),
        ([user("a"), model("b")], "end with a user turn"),
        ([user("a"), user("b")], "alternate"),
        ([user("a"), model(CALL), user("b")], "equal to the number of function call parts"),
        ([user("a"), model(CALL, CALL), user(RESULT)], "equal to the number of function call parts"),
        ([user("a"), model("b"), user(RESULT)], "immediately after a function call turn"),
        ([user(RESULT)], "immediately after a function call turn"),
        (
            [user("a"), model(CALL), user({"functionResponse": {"id": "1", "name": "rm", "response": {}}})],
            "equal to the number",
        ),
        (
            [user("a"), model(CALL), user({"functionResponse": {"id": "2", "name": "ls", "response": {}}})],
            "ids of function responses",
        ),
        (
            [user("a"), model(CALL), user({"functionResponse": {"id": "1", "name": "ls", "response": "x"}})],
            "an object is expected",
        ),
        ([user("a"), model({"functionCall": {"args": {}}}), user(RESULT)], "Name must be given"),
        ([user(CALL)], "come from the model"),
    ],
)
def test_a_malformed_conversation_is_refused_with_the_reason(contents: list[Any], expected: str):
    assert expected in (refusal(*contents) or "")


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"config": {}}, 'Unknown name "config"'),
        ({"generationConfig": {"max_tokens": 1}}, 'Unknown name "max_tokens"'),
        ({"tools": [{"functionDeclarations": [{"name": "a b"}]}]}, "Invalid function name"),
        ({"tools": [{"functionDeclarations": [{"name": "a", "schema": {}}]}]}, 'Unknown name "schema"'),
        ({"systemInstruction": {"parts": []}}, "must not be empty"),
        ({"toolConfig": json.loads("[" * 120 + "]" * 120)}, "too deep"),
    ],
)
def test_a_malformed_rest_of_the_request_is_refused_with_the_reason(extra: Json, expected: str):
    assert expected in (refusal(user("a"), **extra) or "")


def test_the_first_call_of_each_step_of_this_turn_needs_its_signature_but_older_turns_do_not():
    unsigned = {"functionCall": CALL["functionCall"]}
    assert refusal(user("a"), model(unsigned), user(RESULT), signed=True) is not None
    assert refusal(user("a"), model(unsigned), user(RESULT)) is None
    assert refusal(user("a"), model(unsigned), user(RESULT), model("done"), user("b"), signed=True) is None
    assert refusal(user("a"), model(CALL, unsigned), user(RESULT, RESULT), signed=True) is None


def test_only_vertex_counts_the_system_instruction_along():
    body = {"contents": [user("a")], "systemInstruction": {"parts": [{"text": "x"}]}}
    check_count(body, vertex=True)
    with pytest.raises(ApiError, match='Unknown name "systemInstruction"'):
        check_count(body, vertex=False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["user", "model", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "parts", "text", "functionCall", "functionResponse", "name", "args", "inlineData", "data"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values, json_values)
@settings(deadline=None, max_examples=examples(60))
def test_whatever_is_sent_is_taken_or_refused_and_nothing_else(contents: Any, tools: Any):
    body = {"contents": contents, "tools": tools}
    refused(lambda: check_generate(body, signed_calls=True))
    refused(lambda: check_count(body, vertex=True))
