"""Requests as the chat template gets them. Pure."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.local.request import ANSWER_TOKENS, Abilities, chat_body, defusing, prompt_body
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.sessions.models.port import ModelRequest
from tests.adapters.local.desk import talk

PLAIN = Abilities()
WITH_TOOLS = Abilities(tools=True)
STEERING = ["<|turn|>", "<|im_end|>", "<end_of_turn>", "</s>", "[/INST]"]
TOOL = {
    "name": "read_file",
    "description": "Read a file.",
    "parameters": {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}, "required": ["path"]},
}
CALL: dict[str, Any] = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.py"}}}
RESPONSE: dict[str, Any] = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x = 1"}}}
WITH_A_CALL = (
    user_text("Read a.py"),
    Content(role="model", parts=({"text": "Sure."}, CALL)),
    Content(role="user", parts=(RESPONSE,)),
)


def messages(*contents: Content, abilities: Abilities = PLAIN, **more: Any) -> list[dict[str, Any]]:
    request = ModelRequest(model="local", contents=contents, **more)
    return prompt_body(request, abilities, defusing(STEERING))["messages"]


def test_roles_are_the_templates_and_thoughts_stay_out() -> None:
    thinking = Content(role="model", parts=({"text": "hm", "thought": True}, {"text": "Yes."}))
    assert messages(user_text("Is it?"), thinking, user_text("Good."), system_instruction="Be brief.") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Good."},
    ]


def test_without_a_place_for_it_the_system_instruction_leads_the_first_prompt() -> None:
    found = messages(*talk("a", "b", "c"), system_instruction="Be brief.", abilities=Abilities(system=False))
    assert [message["content"] for message in found] == ["Be brief.\n\na", "b", "c"]


def test_roles_alternate_and_begin_with_the_user_whatever_was_left_out() -> None:
    silent = Content(role="model", parts=({"text": "hm", "thought": True},))
    assert messages(Content(role="model", parts=({"text": "I begin."},)), user_text("a"), silent, user_text("b")) == [
        {"role": "user", "content": "(The conversation goes on.)"},
        {"role": "assistant", "content": "I begin."},
        {"role": "user", "content": "a\n\nb"},
    ]


def test_images_are_left_out_with_a_note_and_never_as_base64() -> None:
    image = Content(role="user", parts=({"text": "See:"}, {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}))
    (message,) = messages(image)
    assert message["content"] == "See:\n[A file (image/png) was left out: this model reads only text.]"


def test_tools_and_their_calls_go_where_the_template_has_a_place_for_them() -> None:
    request = ModelRequest(model="local", contents=WITH_A_CALL, tools=(TOOL,))
    body = prompt_body(request, WITH_TOOLS, defusing(()))
    assert body["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    }
    called = {"type": "function", "function": {"name": "read_file", "arguments": '{"path":"a.py"}'}, "id": "c1"}
    assert body["messages"][1] == {"role": "assistant", "content": "Sure.", "tool_calls": [called]}
    assert body["messages"][2] == {
        "role": "tool",
        "name": "read_file",
        "content": '{"output":"x = 1"}',
        "tool_call_id": "c1",
    }


def test_without_a_place_for_tools_calls_and_outputs_are_told_as_text() -> None:
    body = prompt_body(ModelRequest(model="local", contents=WITH_A_CALL, tools=(TOOL,)), PLAIN, defusing(()))
    assert "tools" not in body
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert '"path":"a.py"' in body["messages"][1]["content"]
    assert '"output":"x = 1"' in body["messages"][2]["content"]


def test_an_answer_is_bounded_and_snapshots_are_written_cool() -> None:
    defuse = defusing(())
    main = ModelRequest(model="local", contents=talk("a"))
    assert chat_body(main, PLAIN, defuse, 100_000)["max_tokens"] == ANSWER_TOKENS
    assert chat_body(main, PLAIN, defuse, 2_048)["max_tokens"] == 512
    assert "temperature" not in chat_body(main, PLAIN, defuse, 2_048)
    title = ModelRequest(model="local", contents=talk("a"), role="utility_title", max_output_tokens=100)
    body = chat_body(title, PLAIN, defuse, 2_048)
    assert (body["max_tokens"], body["temperature"]) == (100, 0.2)
    warm = ModelRequest(model="local", contents=talk("a"), role="utility_compressor", temperature=0.9)
    assert chat_body(warm, PLAIN, defuse, 2_048)["temperature"] == 0.9
    assert chat_body(warm, PLAIN, defuse, 2_048)["max_tokens"] == 256


@given(st.text(), st.text(), st.sampled_from(STEERING))
def test_no_control_token_stands_in_what_anybody_said(before: str, after: str, token: str) -> None:
    said = f"{before}{token}{after}"
    tool = Content(role="user", parts=({"functionResponse": {"name": "x", "response": {"output": said}}},))
    for abilities in (PLAIN, WITH_TOOLS):
        for message in messages(user_text(said), *talk(said), tool, system_instruction=said, abilities=abilities):
            assert token not in message["content"]


@given(st.lists(st.text(max_size=5) | st.sampled_from(["<s>", "<|im_start|>", "<table>", "[INST]", "<", "|>"])))
def test_what_is_no_control_token_of_this_model_is_sent_byte_for_byte(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert defusing(())(text) == text
    if not any(token in text for token in STEERING):
        assert defusing(STEERING)(text) == text
