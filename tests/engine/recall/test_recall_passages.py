"""Passages: pieces of a text that are ranked each for itself."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.content import Content, Part, user_text
from gemini_companion.engine.history.log import Attachment, PromptEntry, ReplyEntry, ToolResultEntry, TurnEndEntry
from gemini_companion.engine.recall.passages import (
    HEAD,
    LONG,
    MAX_PASSAGES,
    TAIL,
    entry_text,
    passage_spans,
    remembered,
    spoken_entry,
)
from tests.hostile.timing import cpu_seconds


def reply(*parts: Part) -> ReplyEntry:
    return ReplyEntry(id="e", seq=1, time=1, turn_id="t", content=Content(role="model", parts=parts))


@given(st.lists(st.integers(0, 4_000), max_size=60))
def test_passages_cover_a_text_in_order_and_share_little(lengths: list[int]):
    text = "".join("x" * length + "\n" for length in lengths)
    spans = passage_spans(text)
    if not text.strip():
        assert spans == []
        return
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start <= end < next_end
        assert end - next_start <= 500
    assert all(end - start <= 4_000 for start, end in spans)


def test_a_short_text_is_one_passage_and_none_is_none():
    assert passage_spans("x" * LONG) == [(0, LONG)]
    assert passage_spans(" \n ") == []


@pytest.mark.parametrize("line", ["word " * 11 + "\n", "x", "\n", "あ"], ids=["lines", "one line", "blank", "unspaced"])
def test_of_a_text_of_megabytes_head_and_tail_are_indexed_and_in_little_time(line: str):
    text = line * (5_000_000 // len(line))
    spans: list[tuple[int, int]] = []
    assert cpu_seconds(lambda: spans.extend(passage_spans(text)), enough=2.0) < 2.0
    assert 0 < len(set(spans)) <= MAX_PASSAGES or not text.strip()
    assert all(end <= HEAD or start >= len(text) - TAIL for start, end in spans)


def test_what_was_said_and_called_is_found_and_thoughts_and_attached_files_are_not():
    assert entry_text(
        reply(
            {"text": "secret thought", "thought": True},
            {"text": "I look."},
            {"functionCall": {"name": "read_file", "args": {"path": "a.py", "deep": [{"x": "y"}]}}},
        )
    ) == ("I look.\nread_file\na.py\ny")
    prompt = PromptEntry(
        id="e",
        seq=1,
        time=1,
        turn_id="t",
        content=Content(role="user", parts=({"text": "see @a.py"}, {"text": "the file"})),
        attachments=(Attachment(path="/a.py"),),
    )
    assert entry_text(prompt) == "see @a.py"
    answer: Part = {"functionResponse": {"name": "read_file", "response": {"output": "line one"}}}
    result = ToolResultEntry(id="e", seq=1, time=1, turn_id="t", content=Content(role="user", parts=(answer,)))
    assert entry_text(result) == "line one"
    assert remembered(result, "line one").speaker == "tool"


def test_only_prompts_answers_and_results_are_said():
    assert spoken_entry(TurnEndEntry(id="e", seq=1, time=1, turn_id="t", outcome="completed")) is None
    prompt = PromptEntry(id="e", seq=1, time=1, turn_id="t", content=user_text("hi"))
    assert spoken_entry(prompt) is prompt


@pytest.mark.parametrize(
    ("text", "is_question", "names_time"),
    [("Why? ", True, False), ("なぜ？", True, False), ("We met last week.", False, True), ("Because.", False, False)],
)
def test_what_ranking_asks_of_a_text_is_noted(text: str, is_question: bool, names_time: bool):
    about = remembered(reply({"text": text}), text)
    assert (about.is_question, about.names_time, about.speaker) == (is_question, names_time, "model")
