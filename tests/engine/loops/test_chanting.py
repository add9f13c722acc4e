"""Texts that repeat themselves, and texts that only look like it."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.loops.chanting import Chanting
from tests.support.loops import BOUND, each, listen, streams

SENTENCE = "Let me look at the test once more, for it still fails in the same way. "
JAPANESE = "この関数をもう一度確認してから修正する必要がありますので少しお待ちください。"
EMOJI = "🙂 still 🚀 working 🔧 on it "


@pytest.mark.parametrize("text", [SENTENCE, JAPANESE, EMOJI, "はい、", "no\n", "\n", " ", "ha", "𝒳𝒴"])
@pytest.mark.parametrize("lengths", [[1], [4], [7, 3, 50], [100_000]])
def test_what_is_said_again_and_again_is_noticed_however_it_comes(text: str, lengths: list[int]) -> None:
    chant, at = listen("First. " + text * 3_000, each(lengths))
    assert chant is not None
    assert at <= BOUND + 7 or lengths == [100_000]


def test_a_loop_is_noticed_at_its_tenth_repeat() -> None:
    for times, is_noticed in ((9, False), (10, True)):
        assert (listen(SENTENCE * times, each([1]))[0] is not None) is is_noticed


def test_all_of_a_thousand_streams_with_and_without_loops_are_told_apart() -> None:
    for stream in streams(1_000, seed=12):
        chant, at = listen(stream.text, each([4, 40, 9]))
        if stream.planted is None:
            assert chant is None, chant.excerpt
        else:
            assert chant is not None, stream.text[stream.planted :][:300]
            assert stream.planted < at


def test_a_loop_that_is_all_prose_is_noticed_within_its_bound() -> None:
    for stream in streams(400, seed=4_000):
        if stream.planted is None or any(mark in stream.text[stream.planted :] for mark in "|`"):
            continue
        assert listen(stream.text, each([20]))[1] <= 20 + stream.planted + BOUND


@pytest.mark.parametrize(
    "line",
    ["* item one is the same as always and always\n", "- the same item as before\n", "| a | b | c | d | e | f | g |\n",
     "> the same quotation again and again and again\n", "1. the same step as before, once more, and again\n",
     "# The same heading as before\n", "・同じ項目です\n", "=====\n", "----------------------------------------\n"],
)  # fmt: skip
def test_lines_of_lists_tables_and_their_like_may_be_the_same_forty_times(line: str) -> None:
    assert listen(line * 40, each([1]))[0] is None


def test_code_may_repeat_itself_and_the_prose_behind_it_may_not() -> None:
    code = "```\n" + "    total += 1\n" * 60 + "```\n"
    assert listen(code, each([3]))[0] is None
    assert listen(code + SENTENCE * 12, each([3]))[0] is not None
    assert listen("```\n" + SENTENCE * 30 + "\n```" + SENTENCE * 12, each([3]))[0] is not None


def test_code_that_never_ends_is_a_loop_all_the_same() -> None:
    assert listen("```\n" + "    pass\n" * 1_000, each([5]))[0] is not None


def test_a_table_between_what_is_repeated_does_not_hide_the_loop() -> None:
    round_ = SENTENCE + "\n\n| file | state |\n|---|---|\n| a.py | fails |\n\n```sh\nmake test\n```\n\n"
    assert listen(round_ * 12, each([6]))[0] is not None


def test_dividers_and_a_row_of_dots_are_no_loop_and_one_without_an_end_is() -> None:
    assert listen("─" * 300 + "\n" + "." * 300 + "\n" + " " * 300 + "\n", each([1]))[0] is None
    assert listen("." * 5_000, each([1]))[0] is not None


def test_a_pattern_that_is_filled_in_each_time_is_no_loop() -> None:
    text = "".join(f"The field number {n} is required and has to be a whole number above zero. " for n in range(100))
    assert listen(text, each([4]))[0] is None


def test_repeats_far_apart_are_no_loop() -> None:
    text = "".join(SENTENCE + " ".join(str(n * 7919 + k) for k in range(60)) + ". " for n in range(60))
    assert listen(text, each([4]))[0] is None


def test_a_loop_that_goes_over_several_answers_is_noticed_and_different_calls_between_are_none() -> None:
    for key, is_noticed in ((lambda number: "same", True), (str, False)):
        chanting, heard = Chanting(), []
        for number in range(12):
            heard += [chanting.feed(SENTENCE), chanting.end_answer(), chanting.mark(key(number))]
        assert any(heard) is is_noticed


def test_going_back_to_a_copy_forgets_what_was_heard_since() -> None:
    chanting = Chanting()
    for _ in range(6):
        chanting.feed(SENTENCE)
    before = chanting.copy()
    for _ in range(3):
        assert chanting.feed(SENTENCE) is None
    assert chanting.feed(SENTENCE) is not None
    for _ in range(3):
        assert before.feed(SENTENCE) is None


def test_what_is_kept_of_an_answer_ends_where_it_begins_to_repeat_itself() -> None:
    text = "Here is the plan. " + SENTENCE * 14
    chant, _ = listen(text, each([5]))
    assert chant is not None
    kept = chant.kept_of(text)
    assert text.startswith(kept)
    assert kept.count("Let me look at the test") == 1
    assert chant.excerpt in " ".join(text.split())


@given(
    st.lists(st.sampled_from([SENTENCE, JAPANESE, EMOJI, "- x\n", "-", "---\n", "|a|\n", "```", "`", "~~~\n", "12", "3. y\n",
                              "\n", "   ", "\ud83d", "\ude00", "# h\n", "\t", "a", "\r\n", "・z", "...."]), max_size=60),
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.integers(1, 30),
)  # fmt: skip
def test_how_a_text_is_cut_into_pieces_changes_nothing(pieces: list[str], lengths: list[int], times: int) -> None:
    text = "".join(pieces) * times
    one, at_one = listen(text, each([1]))
    other, at_other = listen(text, each(lengths))
    assert one == other
    if one is not None:
        assert at_other - max(lengths) < at_one <= at_other


def test_what_is_kept_does_not_grow_with_the_text() -> None:
    chanting = Chanting()
    sizes: list[int] = []
    tracemalloc.start()
    try:
        for start in range(0, 8_000, 2_000):
            for number in range(start, start + 2_000):
                assert chanting.feed(f"{number * 7919 % 1_000_003} ") is None
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert max(sizes) < 1.5 * sizes[0], sizes
