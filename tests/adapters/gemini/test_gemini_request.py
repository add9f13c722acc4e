"""The body of a request: whatever a conversation's parts hold, the API gets only what it knows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.request import check_model_name
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.models.port import ModelRequest
from tests.adapters.gemini.calls import count_body, generate_body, wire_contents
from tests.support.emulator.validation import check_count
from tests.support.examples import examples

Json = dict[str, Any]

DEVELOPER = GeminiOptions(api_key="k")
VERTEX = GeminiOptions(api_key="k", vertex=True)
TOOL = {"name": "ls", "description": "List a folder.", "parametersJsonSchema": {"type": "object"}}


def wire(part: Json, *, vertex: bool = False) -> list[Json]:
    return [
        piece
        for content in wire_contents([Content(role="model", parts=(part,))], vertex=vertex)
        for piece in content["parts"]
    ]


@pytest.mark.parametrize(
    "part",
    [
        {"text": "hi"},
        {"text": "hm", "thought": True},
        {"text": "", "thoughtSignature": "AAAA"},
        {"functionCall": {"id": "1", "name": "ls", "args": {"deep": [{"a": None}]}}, "thoughtSignature": "AAAA"},
        {
            "functionResponse": {
                "id": "1",
                "name": "ls",
                "response": {"output": "x"},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
            }
        },
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "x"}, "videoMetadata": {"fps": 1}},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    ],
)
def test_what_the_api_knows_goes_out_as_it_is(part: Json):
    assert wire(part) == [part]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"text": "hi", "callIndex": 3, "ourOwn": {}}, [{"text": "hi"}]),
        ({"text": "hi", "functionCall": None}, [{"text": "hi"}]),
        ({"text": ""}, []),
        ({"text": 5}, []),
        ({}, []),
        ({"ourOwn": 1}, []),
        ({"thought": True}, []),
        ({"thoughtSignature": "AAAA"}, [{"text": "", "thoughtSignature": "AAAA"}]),
        (
            {"inlineData": {"mimeType": "image/png", "data": "AA==", "displayName": "x"}},
            [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
        ),
        ({"inlineData": "x"}, []),
        (
            {"functionCall": {"name": "ls", "args": "oops", "callIndex": 1}},
            [{"functionCall": {"name": "ls", "args": {}}}],
        ),
        (
            {"functionResponse": {"name": "ls", "response": "text"}},
            [{"functionResponse": {"name": "ls", "response": {"output": "text"}}}],
        ),
        (
            {"functionResponse": {"name": "ls", "parts": [5, {"text": "x"}]}},
            [{"functionResponse": {"name": "ls", "parts": []}}],
        ),
        (
            {"functionCall": {"name": "ls"}, "text": "Let me look.", "thoughtSignature": "AAAA"},
            [{"text": "Let me look.", "thoughtSignature": "AAAA"}, {"functionCall": {"name": "ls"}}],
        ),
    ],
)
def test_what_the_api_does_not_know_is_left_out_and_nothing_else_is(part: Json, expected: list[Json]):
    assert wire(part) == expected


def test_vertex_gets_no_field_that_only_the_developer_api_knows():
    part = {"text": "hi", "partMetadata": {"a": 1}}
    assert wire(part) == [part]
    assert wire(part, vertex=True) == [{"text": "hi"}]
    assert wire({"toolCall": {"id": "1"}}, vertex=True) == []


def test_contents_of_which_nothing_is_left_are_dropped_and_their_neighbours_merged():
    contents = [
        user_text("a"),
        Content(role="model", parts=({"ourOwn": 1},)),
        user_text("b"),
        Content(role="model"),
        model_text("c"),
    ]
    assert wire_contents(contents) == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "model", "parts": [{"text": "c"}]},
    ]


def test_neighbours_of_one_role_are_left_alone_where_nothing_was_dropped():
    assert len(wire_contents([user_text("a"), user_text("b")])) == 2


def test_a_body_has_what_the_request_says_and_nothing_more():
    bare = ModelRequest(model="gemini-1.5-pro", contents=(user_text("a"),))
    contents = [{"role": "user", "parts": [{"text": "a"}]}]
    assert generate_body(bare, DEVELOPER) == {"contents": contents}
    full = ModelRequest(
        model="gemini-1.5-pro",
        contents=(user_text("a"),),
        system_instruction="Be kind.",
        tools=(TOOL,),
        temperature=0.0,
        max_output_tokens=9,
    )
    instructions = {"systemInstruction": {"parts": [{"text": "Be kind."}]}, "tools": [{"functionDeclarations": [TOOL]}]}
    assert generate_body(full, DEVELOPER) == {
        "contents": contents,
        **instructions,
        "generationConfig": {"temperature": 0.0, "maxOutputTokens": 9},
    }
    assert count_body(full, DEVELOPER) == {"contents": contents}
    assert count_body(full, VERTEX) == {"contents": contents, **instructions}


@pytest.mark.parametrize(
    ("model", "role", "asked"),
    [
        ("gemini-2.5-pro", "main", True),
        ("gemini-2.5-flash", "main", True),
        ("models/gemini-3-pro-preview", "main", True),
        ("gemini-3.5-flash", "main", True),
        ("gemini-2.5-flash-lite", "main", False),
        ("gemini-2.5-flash-image", "main", False),
        ("gemini-2.0-flash", "main", False),
        ("gemma-4-31b-it", "main", False),
        ("gemini-2.5-pro", "utility_compressor", False),
    ],
)
def test_thoughts_are_asked_for_in_turns_of_models_that_think(model: str, role: Any, asked: bool):
    request = ModelRequest(model=model, contents=(user_text("a"),), role=role)
    assert generate_body(request, DEVELOPER).get("generationConfig") == (
        {"thinkingConfig": {"includeThoughts": True}} if asked else None
    )
    assert "generationConfig" not in generate_body(request, GeminiOptions(include_thoughts=False))


@pytest.mark.parametrize(
    "model", ["gemini-2.5-pro", "models/gemini-3-pro", "publishers/google/models/x@001", "tunedModels/a-b_c.d"]
)
def test_names_of_models_are_taken(model: str):
    check_model_name(model)


@pytest.mark.parametrize(
    "model",
    [
        "",
        " ",
        "a b",
        "../secrets",
        "a/../b",
        "gemini?x=1",
        "a&b",
        "a#b",
        "a:generateContent",
        "ü",
        "a\n",
        "/a",
        "x" * 300,
    ],
)
def test_what_could_bend_the_address_is_no_name_of_a_model(model: str):
    with pytest.raises(ModelUnavailable, match="is not the name of a model") as caught:
        check_model_name(model)
    assert not caught.value.retryable
    assert len(caught.value.message) < 150


def test_our_tables_know_no_field_that_the_sdk_does_not():
    from google.genai import types

    from gemini_companion.adapters.gemini import request

    def names(model: Any) -> set[str]:
        return {field.alias for field in model.model_fields.values()}

    assert names(types.Part) >= request.PLAIN_FIELDS | request.DATA_FIELDS.keys() | {"text"}
    for field, known in request.DATA_FIELDS.items():
        sdk = {"inlineData": types.Blob}.get(field) or getattr(types, field[0].upper() + field[1:])
        assert names(sdk) >= known


values = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just("AAAA")
fields = st.sampled_from(["mimeType", "data", "fileUri", "id", "args", "response", "parts", "code", "output", "zzz"])
objects = st.dictionaries(
    fields, values | st.lists(values, max_size=2) | st.dictionaries(fields, values, max_size=2), max_size=3
)
named = objects.map(lambda fields: {**fields, "name": "tool"})
parts = st.fixed_dictionaries(
    {},
    optional={
        "text": values,
        "functionCall": named | values,
        "functionResponse": named | values,
        "fileData": objects | values,
        "executableCode": objects | values,
        "thought": st.booleans(),
        "thoughtSignature": st.just("AAAA"),
        "callIndex": values,
    },
)


@given(st.lists(st.tuples(st.sampled_from(["user", "model"]), st.lists(parts, max_size=3)), max_size=4))
@settings(deadline=None, max_examples=examples(60))
def test_whatever_parts_hold_what_goes_out_has_the_apis_form(drawn: list[tuple[Any, list[Json]]]):
    sent = wire_contents([Content(role=role, parts=tuple(parts)) for role, parts in drawn])
    if sent:
        check_count({"contents": sent}, vertex=False)  # raises what the API would answer


@given(st.lists(st.text(min_size=1)))
@settings(deadline=None, max_examples=examples(60))
def test_texts_are_sent_word_for_word(texts: list[str]):
    assert [
        part["text"] for content in wire_contents([user_text(text) for text in texts]) for part in content["parts"]
    ] == texts


@pytest.mark.parametrize(
    "media",
    [
        {"mimeType": "image/png", "data": ""},
        {"mimeType": "image/png", "data": "%"},
        {"data": "AAAA"},
        {"mimeType": "a/b"},
    ],
)
def test_a_medium_that_the_api_cannot_take_is_named_and_not_sent(media: Json) -> None:
    (named,) = wire({"inlineData": media})
    assert "left out" in named["text"]
    result = {"name": "shot", "response": {"output": "seen"}, "parts": [{"inlineData": media}]}
    (answered,) = wire({"functionResponse": result})
    assert answered["functionResponse"]["parts"] == []
    assert answered["functionResponse"]["response"]["output"] == "seen"
    assert "left out" in answered["functionResponse"]["response"]["leftOut"]


@given(st.text())
@settings(max_examples=examples(100))
@example("read file")
@example("functions.read_file ")
@example("日本")
@example("x" * 200)
@example("read_file")
def test_the_name_of_a_call_is_valid_and_the_same_for_its_result(name: str) -> None:
    (call,) = wire({"functionCall": {"name": name, "args": {}}, "thoughtSignature": "AAAA"})
    (result,) = wire({"functionResponse": {"name": name, "response": {"output": "x"}}})
    sent = call["functionCall"]["name"]
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", sent, re.ASCII)
    assert result["functionResponse"]["name"] == sent
    assert (sent == name) == (call["thoughtSignature"] == "AAAA")
