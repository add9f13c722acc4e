"""When not to try again: the failure flag, and what automatic compression waits for (behaviour §3 "Failure flag", §1
"After an undo").
"""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.engine.compression.breaker import (
    FAILURES_IN_A_ROW,
    GROWTH_THAT_CLEARS,
    PAUSE_SHARE,
    Breaker,
    Pause,
)
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    Entry,
    ModelChangeEntry,
    PromptEntry,
    ResumeEntry,
    UndoEntry,
)
from tests.support.logs import outcome_of

INFLATED, EMPTY, COUNT_ERROR = (
    "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT",
    "COMPRESSION_FAILED_EMPTY_SUMMARY",
    "COMPRESSION_FAILED_TOKEN_COUNT_ERROR",
)
LIMIT = 1_000_000


def attempt(
    status: str, *, trigger: Any = "auto", forced: bool = False, count: int = 1_000, fault: str = ""
) -> AttemptEntry:
    return AttemptEntry(
        id="a", seq=1, time=0, result=outcome_of(status, trigger=trigger), forced=forced, token_count=count, fault=fault
    )


def compression(status: str = "COMPRESSED", **more: Any) -> CompressionEntry:
    return CompressionEntry(id="c", seq=1, time=0, compression_id="c1", result=outcome_of(status, **more))


def undo(after: int = 1_000) -> UndoEntry:
    return UndoEntry(id="u", seq=1, time=0, undone=("c1",), result=outcome_of("UNDONE", 500, after))


def failed(*entries: Entry, count: int = 1_000) -> bool:
    return Breaker(entries).has_failed(count)


def test_nothing_has_failed_at_first() -> None:
    assert not failed()
    assert not Breaker().is_paused(0, LIMIT)


def test_inflated_sets_the_flag_unless_forced() -> None:
    assert failed(attempt(INFLATED))
    assert failed(attempt(INFLATED, trigger="manual"))
    assert not failed(attempt(INFLATED, forced=True))
    assert not failed(attempt(INFLATED, trigger="manual", forced=True))


def test_compressed_clears_it_and_truncated_leaves_it() -> None:
    assert not failed(attempt(INFLATED), compression())
    assert failed(attempt(INFLATED), compression("CONTENT_TRUNCATED"))
    assert not failed(compression("CONTENT_TRUNCATED"))
    assert failed(compression(), attempt(INFLATED))


@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_any_compression_clears_it_whoever_asked(trigger: str) -> None:
    assert not failed(attempt(INFLATED), compression(trigger=trigger))


def test_three_automatic_failures_in_a_row_set_it_whatever_their_kind() -> None:
    row = [attempt(EMPTY), attempt(COUNT_ERROR), attempt("NOOP", fault="ModelUnavailable")]
    assert not failed(*row[:2])
    assert failed(*row)
    assert failed(*[attempt(EMPTY)] * FAILURES_IN_A_ROW)
    assert not failed(*row[:2], compression(), row[2])
    assert not failed(*row[:2], undo(), row[2])
    assert failed(*row[:2], compression("CONTENT_TRUNCATED"), row[2])  # what a failed automatic run falls back to


def test_failures_by_hand_and_outcomes_that_are_none_do_not_count() -> None:
    by_hand = attempt(EMPTY, trigger="manual", forced=True)
    assert not failed(*[by_hand] * 5)
    assert not failed(*[attempt("NOOP")] * 5)
    assert failed(attempt(EMPTY), by_hand, attempt(EMPTY), by_hand, attempt(EMPTY))


def test_it_clears_when_the_history_has_grown_by_half_since() -> None:
    breaker = Breaker([attempt(INFLATED, count=1_000)])
    assert GROWTH_THAT_CLEARS == 1.5
    assert breaker.has_failed(1_499)
    assert not breaker.has_failed(1_500)
    breaker.apply(attempt(INFLATED, count=1_500))
    assert breaker.has_failed(2_249)
    assert not breaker.has_failed(2_250)


def test_after_the_growth_one_more_failure_of_the_row_sets_it_again() -> None:
    breaker = Breaker([attempt(EMPTY, count=1_000)] * 3)
    assert not breaker.has_failed(1_500)
    breaker.apply(attempt(EMPTY, count=1_500))
    assert breaker.has_failed(1_500)


def test_an_undo_clears_it_and_a_change_of_model_a_prompt_or_a_resumption_leaves_it() -> None:
    assert not failed(attempt(INFLATED), undo())
    assert failed(
        attempt(INFLATED),
        ModelChangeEntry(id="m", seq=2, time=0, model="other"),
        PromptEntry(id="p", seq=3, time=0, turn_id="t", content=user_text("x")),
        ResumeEntry(id="r", seq=4, time=0),
    )


def test_after_an_undo_automatic_compression_waits_until_the_count_grew_by_a_tenth_of_the_limit() -> None:
    breaker = Breaker([compression(), undo(after=600_000)])
    assert PAUSE_SHARE == 0.1
    assert breaker.is_paused(600_000, LIMIT)
    assert breaker.is_paused(699_999, LIMIT)
    assert not breaker.is_paused(700_000, LIMIT)
    assert not breaker.is_paused(620_000, 200_000)
    assert breaker.pause_at(600_000, LIMIT) == Pause(700_000, saved_little=False)
    assert breaker.pause_at(700_000, LIMIT) is None


def test_a_cancelled_automatic_run_makes_it_wait_alike() -> None:
    breaker = Breaker()
    breaker.pause(600_000)
    assert breaker.is_paused(650_000, LIMIT)
    assert not breaker.is_paused(700_000, LIMIT)
    assert not breaker.has_failed(600_000)


def test_a_compression_ends_the_waiting_and_a_truncation_does_not() -> None:
    assert not Breaker([undo(after=600_000), compression()]).is_paused(600_000, LIMIT)
    assert Breaker([undo(after=600_000), compression("CONTENT_TRUNCATED")]).is_paused(600_000, LIMIT)


def test_a_pause_at_a_count_that_no_view_can_have_is_none() -> None:
    assert not Breaker([undo(after=10**15)]).is_paused(600_000, LIMIT)
    little = compression(trigger="auto", original_token_count=10**15 + 1, new_token_count=10**15)
    assert not Breaker([little]).is_paused(600_000, LIMIT)


@pytest.mark.parametrize("trigger", ["auto", "background"])
@pytest.mark.parametrize("status", ["COMPRESSED", "CONTENT_TRUNCATED"])
def test_after_an_automatic_one_that_saved_next_to_nothing_the_count_must_grow_by_a_tenth(
    trigger: str, status: str
) -> None:
    little = compression(status, trigger=trigger, original_token_count=1_020, new_token_count=1_000)
    breaker = Breaker([little])
    assert breaker.is_paused(1_099, LIMIT)
    assert not breaker.is_paused(1_100, LIMIT)
    assert breaker.pause_at(1_099, LIMIT) == Pause(1_100, saved_little=True)
    assert not breaker.has_failed(1_000)
    breaker.apply(compression(trigger=trigger))
    assert not breaker.is_paused(1_000, LIMIT), "the next one saved half"


def test_one_by_hand_that_saved_next_to_nothing_lets_the_next_automatic_one_be() -> None:
    assert not Breaker([compression(original_token_count=1_020, new_token_count=1_000)]).is_paused(1_000, LIMIT)


def test_of_two_pauses_the_one_that_lasts_longer_is_told_of() -> None:
    breaker = Breaker([compression(trigger="auto", original_token_count=1_020, new_token_count=1_000)])
    breaker.pause(1_000)
    assert breaker.pause_at(1_000, 2_000) == Pause(1_200, saved_little=False)
    assert breaker.pause_at(1_000, 1_000 - 1) is None, "no view of that window has so many tokens"
    assert breaker.pause_at(1_000, 1_000) == Pause(1_100, saved_little=True)
