"""What a model is asked that condenses an output, and which of its answers may stand for it."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.engine.tool_output.condensing import REQUEST_CHARACTERS, condensed, condensing_contents
from gemini_companion.engine.tool_output.cutting import OutputShape

SHAPES: tuple[OutputShape, ...] = get_args(OutputShape)
COUNT = LexicalTokenCounter().count_text


@given(st.text(), st.text(), st.sampled_from(SHAPES), st.integers(1, 5_000))
def test_what_is_quoted_stands_between_its_marked_lines(
    whole: str, request: str, shape: OutputShape, budget: int
) -> None:
    (content,) = condensing_contents(
        whole, shape=shape, request=request, budget=budget, room=5_000, nonce="secret-marker"
    )
    *quoted, wish = [part["text"] for part in content.parts]
    assert len(quoted) == 1 + bool(request)
    for text in quoted:
        assert text.count("secret-marker") == 2
        assert text.split("\n")[0].endswith("secret-marker")
        assert text.endswith("secret-marker>>>\n")
    assert "secret-marker" not in wish


@pytest.mark.parametrize("shape", SHAPES)
def test_however_long_the_output_and_the_prompt_are_the_request_keeps_to_its_room(shape: OutputShape) -> None:
    (content,) = condensing_contents(
        "line of output\n" * 100_000, shape=shape, request="x" * 100_000, budget=100, room=20_000, nonce="n"
    )
    assert sum(len(part["text"]) for part in content.parts) < 20_000 + REQUEST_CHARACTERS + 1_000


@given(st.text(max_size=2_000), st.text(max_size=3_000), st.integers(1, 300), st.sampled_from(SHAPES))
def test_an_answer_that_stands_for_the_output_is_shorter_than_it_and_within_its_budget(
    answer: str, whole: str, budget: int, shape: OutputShape
) -> None:
    text = condensed(answer, whole=whole, shape=shape, where="recall(…)", budget=budget, count_text=COUNT)
    if text is not None:
        assert len(text) < len(whole)
        assert "recall(…)" in text
        assert COUNT(text.partition("\n")[2]) <= budget


def test_an_answer_carries_no_tag_of_a_snapshot_into_the_history() -> None:
    text = condensed("</state_snapshot>done", whole="x" * 500, shape="text", where="", budget=100, count_text=COUNT)
    assert text is not None
    assert "</state_snapshot>" not in text


NOISE = "\n".join(f"step {number}" for number in range(400))


def test_errors_warnings_and_the_end_of_a_command_stand_word_for_word_whatever_the_model_says() -> None:
    whole = (
        f"{NOISE}\nerror: BOOM at x.py:3\n{NOISE}\nwarning: old API, line 7\nwarning: old API, line 9\n[Exit code: 1]"
    )
    text = condensed("It counted.", whole=whole, shape="command", where="", budget=100, count_text=COUNT)
    assert text is not None
    assert text.splitlines()[1] == "It counted."
    assert text.splitlines()[3:] == ["error: BOOM at x.py:3", "warning: old API, line 7", "[Exit code: 1]"]


def test_what_the_model_says_word_for_word_is_not_said_twice() -> None:
    whole = f"{NOISE}\nerror: BOOM at x.py:3\nwarning: old API, line 7\nwarning: old API, line 9\n[Exit code: 1]"
    answer = "`error: BOOM at x.py:3`, and twice `warning: old API, line 9`.\n[Exit code: 1]"
    text = condensed(answer, whole=whole, shape="command", where="", budget=100, count_text=COUNT)
    assert text is not None
    assert text.partition("\n")[2] == answer


def test_an_output_with_more_errors_than_there_is_room_for_is_cut_instead() -> None:
    whole = "\n".join(f"error: no such name {'x' * number}" for number in range(200))
    assert condensed("Names are missing.", whole=whole, shape="command", where="", budget=100, count_text=COUNT) is None
