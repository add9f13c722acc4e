"""Chats as others write them: what is plain is read, what is not is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.sessions.interchange import ImportedSession, decode_session_file


def read(value: object) -> ImportedSession:
    return decode_session_file(json.dumps(value).encode(), "chat.json")


SAID: list[Any] = [user_text("Q"), model_text("A")]
CALLED: list[Any] = [
    {"role": "user", "parts": [{"text": "Q"}]},
    {"role": "model", "parts": [{"text": "A"}, {"functionCall": {"id": "c1", "name": "look", "args": {"at": "x"}}}]},
    {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "look", "response": {"output": "seen"}}}]},
]


@pytest.mark.parametrize(
    "file",
    [
        {"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]},
        [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}],
        {"history": [{"role": "user", "content": "Q"}, {"role": "model", "parts": [{"text": "A"}]}]},
        {"messages": [{"type": "human", "content": "Q"}, {"type": "ai", "content": [{"type": "text", "text": "A"}]}]},
        [{"type": "human", "data": {"content": "Q"}}, {"type": "ai", "data": {"content": "A"}}],
        {"contents": [{"role": "user", "parts": [{"text": "Q"}]}, {"role": "model", "parts": [{"text": "A"}]}]},
    ],
)
def test_texts_are_read_in_every_form(file: object) -> None:
    assert read(file).contents == SAID


@pytest.mark.parametrize(
    "messages",
    [
        [
            {
                "role": "assistant",
                "content": "A",
                "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"at": "x"}'}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "seen"},
        ],
        [
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "A"}, {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "x"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "seen"}]}]},
        ],
        [
            {"type": "ai", "content": "A", "tool_calls": [{"id": "c1", "name": "look", "args": {"at": "x"}}]},
            {"type": "tool", "tool_call_id": "c1", "content": "seen"},
        ],
    ],
)  # fmt: skip
def test_calls_and_what_came_of_them_are_read(messages: list[Any]) -> None:
    contents = read({"messages": [{"role": "user", "content": "Q"}, *messages]}).contents
    assert [{"role": one.role, "parts": list(one.parts)} for one in contents] == CALLED


def test_results_of_one_round_stand_together_and_before_words() -> None:
    calls = [{"id": one, "function": {"name": one, "arguments": ""}} for one in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": one, "content": one} for one in ("a", "b")]
    contents = read([{"role": "assistant", "tool_calls": calls}, *results, {"role": "user", "content": "on"}]).contents
    assert [len(one.parts) for one in contents] == [2, 2, 1]


def test_system_messages_become_the_instruction_and_pictures_stay() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    session = read(
        {
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": [picture]}],
            "system": "Hi.",
        }
    )
    assert session.system_instruction == "Hi.\n\nBe kind."
    assert session.contents[0].parts == ({"inlineData": {"mimeType": "image/png", "data": "AAAA"}},)


def test_what_is_of_another_kind_is_left_out_and_told() -> None:
    blocks = [{"type": "text", "text": "Q"}, {"type": "hologram"}, {"type": "hologram"}]
    session = read([{"role": "user", "content": blocks}])
    assert session.contents == [user_text("Q")]
    assert "hologram (2)" in session.warnings[0]


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ([{"role": "user", "content": [{"type": "hologram"}]}], "hologram"),
        ([{"role": "wizard", "content": "Q"}], "wizard"),
        ([{"role": "user", "content": 7}], "Expected a string or an array"),
        ({"messages": [{"author": "me", "text": "Q"}]}, "No message has a type that is known"),
        ({"messages": [{"type": "hologram", "content": "Q"}]}, "hologram"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_refused_with_the_reason(file: object, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(file)
    assert says in caught.value.message


def gemini(kind: str, text: str, identity: str = "m1") -> dict[str, str]:
    return {"id": identity, "type": kind, "content": text}


def test_messages_of_one_id_all_stay() -> None:
    messages = [gemini("user", "Q"), gemini("gemini", "A"), gemini("user", "Q2")]
    assert read({"messages": messages}).contents == [*SAID, user_text("Q2")]
    head = {"sessionId": "s", "projectHash": "h"}
    lines = "\n".join(
        json.dumps(one) for one in (head, gemini("user", "Q"), gemini("gemini", "B"), gemini("gemini", "A"))
    )
    assert decode_session_file(lines.encode(), "chat.jsonl").contents == [
        user_text("Q"),
        model_text("B"),
        model_text("A"),
    ]


def test_messages_of_an_unknown_type_and_an_empty_chat_are_told() -> None:
    session = read({"messages": [gemini("user", "Q"), gemini("hologram", "x", "m2")]})
    assert session.contents == [user_text("Q")]
    assert "1 message of the type hologram" in session.warnings[0]
    assert "the chat is empty" in read({"messages": [gemini("info", "x")]}).warnings[-1]
    assert read({"messages": []}).warnings == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from(["text", "tool_use", "user"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "content", "role", "id", "name", "source", "image_url", "function", "tool_calls"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=9,
)


@given(
    st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": JSON}))
)
def test_whatever_stands_in_messages_something_is_read_or_the_file_is_refused(messages: list[Any]) -> None:
    try:
        session = read({"messages": messages})
    except InvalidInput:
        return
    assert session.contents or not messages
