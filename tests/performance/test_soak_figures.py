"""A soak tells a chat that becomes slower or larger from one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.performance.options import Options
from tests.performance.soak import Course, Held, Took, figures, lead


def course(slower: float = 1.0, handles: int = 0, threads: int = 0) -> Course:
    took = [Took(10.0, 5.0)] * 300 + [Took(10.0 * slower, 5.0 * slower)] * 300
    held = [
        Held(turns, 100_000 + 3 * turns, 20 + (turns > 200) * handles, 9 + (turns > 400) * threads, 5 * turns)
        for turns in (100, 300, 600)
    ]
    return Course(took=took, held=held, compressions=7, text=600 * 2_000)


def verdicts(of: Course) -> dict[str, str]:
    return {figure.name: figure.verdict for figure in figures(of, "auto") if figure.verdict}


def test_a_chat_that_stays_as_it_is_meets_every_target() -> None:
    assert set(verdicts(course()).values()) == {"yes"}


def test_a_chat_that_becomes_slower_is_seen_in_both_times() -> None:
    found = verdicts(course(slower=1.2))
    assert found["the last 200 turns, processor time, median, in pieces of work"] == "NO"
    assert found["the last 200 turns, by the clock, median, in pieces of work"] == "NO"


def test_a_machine_that_becomes_slower_is_not_taken_for_the_chat() -> None:
    slow = course(slower=1.2)
    slow.took[300:] = [Took(took.real, took.processor, piece=1.2) for took in slow.took[300:]]
    assert set(verdicts(slow).values()) == {"yes"}


def test_handles_that_stay_open_are_seen() -> None:
    assert verdicts(course(handles=2))["handles more than at first"] == "NO"


def test_threads_that_go_on_coming_are_seen_and_a_worker_that_is_wanted_late_is_none() -> None:
    assert verdicts(course(threads=1))["threads more than in the first half"] == "NO"
    late = course()
    late.held[1:] = [Held(*one[:3], 10, one.store_kb) for one in late.held[1:]]
    assert verdicts(late)["threads more than in the first half"] == "yes"


def test_growth_is_told_a_turn() -> None:
    told = {figure.name: figure.value for figure in figures(course(), "off")}
    assert told["memory, growth a turn"] == pytest.approx(3.0)
    assert told["the store, growth a turn"] == pytest.approx(5.0)


@pytest.mark.process
def test_a_short_one_goes_through_the_whole_daemon_with_a_compression(tmp_path: Path) -> None:
    found = lead(Options(scratch=tmp_path), "off", 30, window=24_000)
    assert len(found.took) == 30
    assert found.compressions >= 1
    assert found.held[-1].turns == 30
