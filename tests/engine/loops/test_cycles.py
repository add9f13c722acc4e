"""Cycles of calls, and calls whose answers change."""

from __future__ import annotations

import pytest

from gemini_companion.engine.loops.cycles import LONGEST, PATIENT_REPEATS, REPEATS, CallCycles, digest_of


def rounds_until_noticed(length: int, answer: str = "", most: int = 500) -> tuple[int, int] | None:
    """Calls until a cycle of this length is noticed, and the length that was; `answer` may use the call's number."""
    cycles = CallCycles()
    for number in range(most):
        found = cycles.add(f"call {number % length}", answer.format(number=number))
        if found is not None:
            return number + 1, found.length
    return None


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_a_cycle_of_up_to_five_calls_is_noticed_at_its_fifth_repeat(length: int) -> None:
    assert rounds_until_noticed(length) == (REPEATS * length, length)


def test_a_longer_cycle_is_none() -> None:
    assert rounds_until_noticed(LONGEST + 1) is None


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_calls_whose_answers_change_may_be_made_four_times_as_often(length: int) -> None:
    assert rounds_until_noticed(length, "{number}% done") == (PATIENT_REPEATS * length, length)


def test_one_other_call_begins_the_count_anew() -> None:
    cycles = CallCycles()
    assert not any(cycles.add(call, "") for call in ["a"] * 4 + ["b"] + ["a"] * 4)
    assert cycles.add("a", "") is not None


def test_calls_are_the_same_by_what_they_say_not_by_how_it_is_spelt() -> None:
    assert digest_of("f", {"a": 1, "b": [2.0, {"c": None}]}) == digest_of("f", {"b": [2, {"c": None}], "a": 1.0})
    assert digest_of("f", {"a": 1}) != digest_of("f", {"a": "1"})
    assert digest_of("f", {"a": True}) != digest_of("f", {"a": 1})
    for odd in (2**70, 1e308, float("inf"), "\ud83d", {"\ud83d": [{}]}):
        assert digest_of("f", odd) == digest_of("f", odd)
