"""The stream of events of llama.cpp's server, read. Pure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.local.answer import MAX_LINE_BYTES, Answer, Events, ThoughtSplitter, fault_of
from gemini_companion.engine.errors import ContextOverflow, ModelUnavailable
from gemini_companion.sessions.models.port import ModelChunk


def event(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta or {}, "finish_reason": finish}], **more}


def read(*events: dict[str, Any]) -> list[ModelChunk]:
    answer = Answer("Tiny")
    return [chunk for each in events for chunk in answer.add(each)]


def parts(*events: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for chunk in read(*events) for part in chunk.parts]


def test_text_thoughts_reason_and_usage_are_read() -> None:
    chunks = read(
        event({"role": "assistant", "content": None}, prompt_progress={"processed": 64}),
        event({"reasoning_content": "Well"}),
        event({"content": "Yes"}),
        event({"content": "."}),
        event(finish="length"),
        {
            "choices": [],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
        },
    )
    assert [part for chunk in chunks for part in chunk.parts] == [
        {"text": "Well", "thought": True},
        {"text": "Yes"},
        {"text": "."},
    ]
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == ["MAX_TOKENS"]
    usage = chunks[-1].usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_tokens, usage.output_tokens, usage.total_tokens) == (5, 4, 2, 7)


def test_calls_come_in_pieces_and_leave_whole() -> None:
    def call(index: int, **function: str) -> dict[str, Any]:
        return {
            "tool_calls": [{"index": index, "id": f"c{index}" if "name" in function else None, "function": function}]
        }

    found = parts(
        event(call(0, name="read", arguments="")),
        event(call(0, arguments='{"path":')),
        event(call(1, name="list", arguments="{}")),
        event(call(0, arguments='"a.py"}')),
        event(finish="tool_calls"),
    )
    assert found == [
        {"functionCall": {"id": "c0", "name": "read", "args": {"path": "a.py"}}},
        {"functionCall": {"id": "c1", "name": "list", "args": {}}},
    ]


@pytest.mark.parametrize("arguments", ["{", "[]", "[" * 100_000])
def test_a_call_that_cannot_be_read_is_a_fault(arguments: str) -> None:
    call = {"tool_calls": [{"index": 0, "function": {"name": "x", "arguments": arguments}}]}
    with pytest.raises(ModelUnavailable, match="arguments"):
        read(event(call), event(finish="tool_calls"))


@given(
    st.sampled_from(["", "\n", "  \n"]),
    st.text(alphabet="ab <>/think\n").filter(lambda text: "</think>" not in text),
    st.text(alphabet="ab <>/think\n", min_size=1),
    st.integers(1, 5),
)
def test_thoughts_in_the_text_are_found_whatever_pieces_it_comes_in(
    blank: str, thought: str, answer: str, size: int
) -> None:
    whole = f"{blank}<think>{thought}</think>{answer}"
    splitter = ThoughtSplitter()
    found = [part for at in range(0, len(whole), size) for part in splitter.feed(whole[at : at + size])]
    found += splitter.rest()
    thoughts = "".join(part["text"] for part in found if part.get("thought"))
    texts = "".join(part["text"] for part in found if not part.get("thought"))
    assert thoughts.strip() == thought.strip()
    assert texts.lstrip("\n") == answer.lstrip("\n")


@given(st.text(alphabet="ab <think>/\n"), st.integers(1, 5))
def test_a_text_that_does_not_begin_with_thoughts_stays_as_it_is(text: str, size: int) -> None:
    whole = f"x{text}"
    splitter = ThoughtSplitter()
    found = [part for at in range(0, len(whole), size) for part in splitter.feed(whole[at : at + size])]
    assert "".join(part["text"] for part in [*found, *splitter.rest()]) == whole


def test_a_thought_without_end_is_no_answer() -> None:
    assert all(part.get("thought") for part in parts(event({"content": "<think>for ever"}), event(finish="length")))


@given(st.lists(st.text(), max_size=5), st.integers(1, 9))
def test_events_are_the_same_in_whatever_pieces_they_come(texts: list[str], size: int) -> None:
    stream = "".join(f"data: {json.dumps({'text': text}, ensure_ascii=False)}\n\n" for text in texts).encode(
        "utf-8", "replace"
    )
    stream += b": ping\n\ndata: [DONE]\n\n"
    events = Events()
    found = [each for at in range(0, len(stream), size) for each in events.feed(stream[at : at + size])]
    assert [each["text"] for each in found] == [text.encode("utf-8", "replace").decode() for text in texts]


@pytest.mark.parametrize("line", [b"data: {\n", b"data: []\n", b"data: \xff\n", b"data: " + b"[" * 100_000 + b"\n"])
def test_what_is_no_event_is_a_fault(line: bytes) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        list(Events().feed(line))


def test_a_line_without_end_is_given_up() -> None:
    events = Events()
    assert list(events.feed(b"x" * (MAX_LINE_BYTES - 1))) == []
    with pytest.raises(ModelUnavailable):
        list(events.feed(b"xx"))


def test_errors_are_told_apart() -> None:
    overflow = fault_of({"type": "exceed_context_size_error", "n_prompt_tokens": 900, "n_ctx": 512, "message": "no"})
    assert isinstance(overflow, ContextOverflow)
    assert overflow.message == "The request has 900 tokens, and the model on this machine takes 512."
    other = fault_of({"message": "Jinja\nException: \x1b[1mroles must alternate.", "code": 500})
    assert other.message == "The model on this machine refused the request: Jinja Exception: [1mroles must alternate."
    assert fault_of(None).message.endswith("no reason was given.")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "content",
                        "finish_reason",
                        "usage",
                        "tool_calls",
                        "index",
                        "function",
                        "error",
                        "message",
                        "type",
                        "prompt_tokens",
                        "arguments",
                        "name",
                        "id",
                        "reasoning_content",
                    ]
                ),
                inner,
            )
        ),
    )
)
def test_whatever_an_event_holds_it_is_read_or_refused(value: Any) -> None:
    try:
        read(value if isinstance(value, dict) else {"choices": [value]}, {"choices": [{"delta": value}]})
    except (ModelUnavailable, ContextOverflow) as refused:
        assert refused.message  # noqa: PT017
