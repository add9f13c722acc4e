"""A comparison says what changed, and nothing that two runs cannot say."""

from __future__ import annotations

import msgspec
import pytest

from tests.performance.comparing import compared, differences, worse
from tests.performance.figures import Figure, Skipped
from tests.performance.runs import Machine, Run, Took
from tests.performance.spread import median

MACHINE = Machine(processor="Made up 9", processors=2, memory=24.0, system="Linux", versions={"Python": "3.11.7"})


def run(*findings: Figure | Skipped, machine: Machine = MACHINE, others: float = 0.0) -> Run:
    took = Took(name="b", seconds=1.0, load_before=0.1, load_after=0.1, others=others)
    return Run(
        commit="a" * 40, began="2026-11-23 15:00", seconds=1.0, machine=machine, benches=[took], findings=list(findings)
    )


def figure(*values: float, beside: tuple[float, ...] = (), others: float = 0.0, unit: str = "ms") -> Figure:
    return Figure(
        bench="b",
        name="a row",
        value=median(values),
        unit=unit,
        beside="peer" if beside else "",
        beside_value=median(beside) if beside else None,
        others=others,
    )


def change(before: Figure, after: Figure, *, elsewhere: bool = False) -> str:
    machine = msgspec.structs.replace(MACHINE, processor="Another") if elsewhere else MACHINE
    (row,) = differences(run(before), run(after, machine=machine))
    return row.change


def test_a_figure_made_of_rounds_carries_their_spread() -> None:
    made = figure(1.0, 2.0, 3.0, 4.0, 5.0)
    assert (made.value, made.spread, made.rounds, type(made.value)) == (3.0, 1.0, 5, float)


def test_what_is_beyond_the_spread_of_both_runs_has_changed() -> None:
    assert change(figure(10.0, 10.1, 10.2), figure(12.0, 12.1, 12.2)) == "worse"
    assert change(figure(10.0, 10.1, 10.2), figure(8.0, 8.1, 8.2)) == "better"


def test_what_is_within_it_has_not() -> None:
    assert change(figure(8.0, 10.0, 12.0), figure(9.5, 11.5, 13.5)) == "same"
    assert change(figure(10.0, 10.0, 10.0), figure(10.4, 10.4, 10.4)) == "same"


def test_one_round_says_little() -> None:
    single = Figure(bench="b", name="a row", value=10.0, unit="ms")
    assert change(single, msgspec.structs.replace(single, value=12.0)) == "same"
    assert change(single, msgspec.structs.replace(single, value=13.0)) == "worse"


def test_the_more_others_had_the_less_a_time_says() -> None:
    assert change(figure(10.0, 10.0), figure(30.0, 30.0, others=0.5)) == "worse"
    assert change(figure(10.0, 10.0), figure(30.0, 30.0, others=0.9)) == "same"


def test_what_stands_beside_something_is_compared_by_its_ratio() -> None:
    before, after = figure(10.0, 10.0, beside=(100.0, 100.0)), figure(30.0, 30.0, beside=(300.0, 300.0), others=0.9)
    assert change(before, after) == "same"
    assert change(before, figure(30.0, 30.0, beside=(100.0, 100.0), others=0.9)) == "worse"


def test_times_of_different_machines_are_not_compared_and_ratios_are() -> None:
    assert change(figure(10.0, 10.0), figure(5.0, 5.0), elsewhere=True) == "unknown"
    before, after = figure(10.0, 10.0, beside=(100.0, 100.0)), figure(5.0, 5.0, beside=(100.0, 100.0))
    assert change(before, after, elsewhere=True) == "better"
    told = compared(run(before), run(after, machine=msgspec.structs.replace(MACHINE, processor="Another")))
    assert "The machines differ" in told


def test_what_is_counted_is_compared_exactly() -> None:
    assert change(figure(1_000.0, unit="tokens"), figure(1_020.0, unit="tokens")) == "worse"


def test_where_more_is_better_less_is_worse() -> None:
    assert change(figure(100.0, 100.0, unit="/s"), figure(50.0, 50.0, unit="/s")) == "worse"


def test_a_row_whose_reference_is_another_one_now_is_compared_by_itself() -> None:
    assert change(figure(10.0, 10.0, beside=(50.0, 50.0)), figure(5.0, 5.0)) == "better"


def test_rows_of_one_run_alone_and_what_could_not_be_measured_are_named() -> None:
    other = Figure(bench="b", name="new", value=1.0, unit="ms")
    missing = Skipped(bench="b", name="old", reason="it did not run then")
    told = compared(run(figure(1.0), missing), run(figure(1.0), other))
    assert "After only:\n  b, new: 1 ms" in told
    assert "Not measured before:\n  b, old: it did not run then" in told


def test_runs_with_nothing_in_common_say_so() -> None:
    missing = Skipped(bench="b", name="a row", reason="it did not run then")
    told = compared(run(missing), run(figure(1.0)))
    assert "no row in common" in told
    assert "it did not run then" in told


@pytest.mark.parametrize(("value", "expected"), [(20.0, ["b, a row"]), (10.0, [])])
def test_what_became_worse_is_named_for_a_check(value: float, expected: list[str]) -> None:
    assert worse(run(figure(10.0, 10.0)), run(figure(value, value))) == expected
