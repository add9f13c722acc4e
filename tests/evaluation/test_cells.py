"""Whole runs: the real application, its numbers, and that they are the same wherever they are made."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.verdict import DEFAULT_STRATEGY
from gemini_companion.evaluation.arms import ARMS
from gemini_companion.evaluation.cell import Cell, CellResult, Workbench
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.execution import ResultFolder, run_cells, run_on_ray
from gemini_companion.evaluation.measuring import Share
from gemini_companion.evaluation.plan import Plan, cells_of, parse_passes
from gemini_companion.evaluation.summary import summarise
from tests.evaluation.conftest import MakeCell

PLAN = Plan(
    arms=("full", "none", "gemini-cli"),
    strategies=("split",),
    summarisers=("lossy(0.3)", "oracle"),
    seeds=2,
    replicates=1,
    passes=(1, 2),
    measured=("planted",),
)


@pytest.fixture(scope="module")
def bench(corpus: list[Conversation]) -> Workbench:
    return Workbench(corpus, {})


def rules_of(result: CellResult, number: int = -1) -> Share:
    shares = result.passes[number].shares
    return Share(
        shares["rules.hard"].kept + shares["rules.soft"].kept, shares["rules.hard"].of + shares["rules.soft"].of
    )


def without_times(result: CellResult) -> CellResult:
    return msgspec.structs.replace(result, own_ms=())


def test_the_oracle_loses_nothing_that_was_planted_and_undo_brings_back_every_byte(
    bench: Workbench, cell: MakeCell
) -> None:
    result = bench.run(cell(passes=2))
    assert [numbers.status for numbers in result.passes] == ["COMPRESSED", "COMPRESSED"]
    assert all(share.kept == share.of for name, share in result.passes[-1].shares.items() if name.startswith("probes"))
    assert rules_of(result) == Share(4, 4)
    assert result.undo_equal is True
    first = result.passes[0]
    assert first.tokens_after < first.tokens_before / 2
    assert (first.calls, first.tokens_out > 0) == (2, True)


def test_the_same_cell_gives_the_same_numbers(corpus: list[Conversation], cell: MakeCell) -> None:
    lossy = cell(summariser="lossy(0.3)", passes=2)
    once, again = [Workbench(corpus, {}).run(lossy) for _ in range(2)]
    assert without_times(once) == without_times(again)


def test_a_replicate_plants_the_same_and_loses_something_else(bench: Workbench, cell: MakeCell) -> None:
    one, two = [bench.run(cell(summariser="lossy(0.5)", replicate=number)) for number in (0, 1)]
    assert one.passes[0].tokens_before == two.passes[0].tokens_before
    assert one.passes[0].shares != two.passes[0].shares


def test_without_safeguards_rules_go_the_way_of_the_summariser(bench: Workbench, cell: MakeCell) -> None:
    left = [rules_of(bench.run(cell(summariser="lossy(0.3)", seed=seed, passes=6))) for seed in range(4)]
    assert sum(share.kept for share in left) <= 5  # of 16; 0.7 ** 6 is a ninth


def test_a_broken_model_installs_nothing_and_so_loses_nothing(bench: Workbench, cell: MakeCell) -> None:
    result = bench.run(cell(summariser="broken", passes=5))
    assert {numbers.status for numbers in result.passes} <= {"COMPRESSION_FAILED_EMPTY_SUMMARY", "ModelUnavailable"}
    assert rules_of(result) == Share(4, 4)
    assert result.undo_equal is None


def test_a_slow_model_takes_the_runs_own_time(bench: Workbench, cell: MakeCell) -> None:
    numbers = bench.run(cell(summariser="slow(10)")).passes[0]
    assert numbers.virtual_ms == pytest.approx(numbers.tokens_out * 100, rel=0.05)


def test_no_compression_keeps_everything_and_costs_nothing(bench: Workbench, cell: MakeCell) -> None:
    numbers = bench.run(cell(arm="none", strategy="")).passes[0]
    assert (numbers.tokens_after, numbers.calls, numbers.net_tokens) == (numbers.tokens_before, 0, 0)
    assert [name for name in numbers.shares if name.startswith("facts.")] == []


def test_dropping_the_oldest_is_compared_at_the_products_tokens(bench: Workbench, cell: MakeCell) -> None:
    product = bench.run(cell(arm="full", strategy=DEFAULT_STRATEGY)).passes[0]
    other = bench.run(cell(arm="drop-oldest", strategy="")).passes[0]
    assert other.tokens_after <= product.tokens_after


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_runs(bench: Workbench, cell: MakeCell, arm: str) -> None:
    result = bench.run(cell(arm=arm, strategy="" if ARMS[arm].baseline else "split", summariser="offline"))
    assert len(result.passes) == 1


def test_a_key_is_another_one_for_every_parameter(cell: MakeCell) -> None:
    changes: list[dict[str, object]] = [
        {},
        {"conversation": "x"},
        {"digest": "x"},
        {"arm": "gemini-cli"},
        {"strategy": "x"},
        {"summariser": "x"},
        {"seed": 2},
        {"replicate": 1},
        {"passes": 2},
    ]
    assert len({cell(**change).key for change in changes}) == len(changes)
    assert cell().key == cell().key


def test_a_baseline_has_no_strategies_and_doing_nothing_no_summarisers(corpus: list[Conversation]) -> None:
    plan = msgspec.structs.replace(PLAN, strategies=("split", "reserve"), seeds=1)
    cells = cells_of(plan, corpus[:1], corpus)
    found = [(cell.arm, cell.strategy, cell.summariser) for cell in cells]
    assert len(found) == len(set(found)) == 4 + 1 + 2
    assert found.count(("none", "", "lossy(0.3)")) == 1


@pytest.mark.parametrize(("text", "passes"), [("1", (1,)), ("5, 1,5", (1, 5))])
def test_passes_are_rising_numbers(text: str, passes: tuple[int, ...]) -> None:
    assert parse_passes(text) == passes


@pytest.mark.parametrize("text", ["", "0", "a", "101", "1,,2"])
def test_what_names_no_passes_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_passes(text)


def test_a_table_has_a_row_for_each_combination_and_pass(corpus: list[Conversation]) -> None:
    cells = cells_of(PLAN, corpus[:1], corpus)
    results = list(run_cells(cells, corpus, {}, kept=None, resume=False))
    rows = summarise(results, PLAN.passes)
    assert [(row.arm, row.summariser, row.number) for row in rows][:4] == [
        ("full", "lossy(0.3)", 1),
        ("full", "lossy(0.3)", 2),
        ("full", "oracle", 1),
        ("full", "oracle", 2),
    ]
    assert len(rows) == 10
    assert rows == summarise(reversed(results), PLAN.passes)
    oracle = next(row for row in rows if row.arm == "full" and row.summariser == "oracle")
    assert (oracle.mean("rules"), oracle.undo_equal) == (1.0, Share(2, 2))
    assert oracle.metrics["probes"].cells == 2
    assert sum(oracle.statuses.values()) == 2


def test_what_is_kept_is_not_measured_again(tmp_path: Path, corpus: list[Conversation], cell: MakeCell) -> None:
    kept, cells = ResultFolder(tmp_path), [cell(), cell(seed=2)]
    told: list[int] = []

    def run(resume: bool) -> list[CellResult]:
        told.clear()
        tell = lambda done, result: told.append(done)  # noqa: E731
        return list(run_cells(cells, corpus, {}, kept=kept, resume=resume, tell=tell))

    first = run(True)
    assert told == [0, 1, 2]
    assert (run(True), told) == (first, [2])
    (tmp_path / f"{cells[0].key}.json").write_text("{", "utf-8")
    assert [result.cell.seed for result in run(True)] == [2, 1]
    assert told == [1, 2]


def test_an_interrupted_run_keeps_what_is_done(tmp_path: Path, corpus: list[Conversation], cell: MakeCell) -> None:
    kept, cells = ResultFolder(tmp_path), [cell(), cell(seed=2)]

    def interrupt(done: int, result: CellResult | None) -> None:
        if result is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_cells(cells, corpus, {}, kept=kept, resume=True, tell=interrupt))
    assert kept.read(cells[0]) is not None
    assert kept.read(cells[1]) is None


def test_a_result_of_another_cell_is_never_taken(tmp_path: Path, bench: Workbench, cell: MakeCell) -> None:
    kept = ResultFolder(tmp_path)
    kept.write(bench.run(cell()))
    (tmp_path / f"{cell().key}.json").rename(tmp_path / f"{cell(seed=2).key}.json")
    assert kept.read(cell(seed=2)) is None


def test_a_fault_ends_its_own_run_only(corpus: list[Conversation], cell: MakeCell) -> None:
    cells: list[Cell] = [cell(summariser="recorded(/nowhere)"), cell()]
    bad, good = run_cells(cells, corpus, {}, kept=None, resume=False)
    assert "/nowhere" in bad.fault
    assert good.passes
    assert summarise([good], (1,)) == summarise([good, msgspec.structs.replace(bad, passes=())], (1,))


@pytest.mark.process
def test_the_numbers_are_the_same_over_processes(corpus: list[Conversation], cell: MakeCell) -> None:
    cells = [cell(summariser="lossy(0.3)", seed=seed) for seed in (1, 2)]
    here = run_cells(cells, corpus, {}, kept=None, resume=False)
    there = run_cells(cells, corpus, {}, kept=None, resume=False, processes=2)
    assert {result.cell.key: without_times(result) for result in here} == {
        result.cell.key: without_times(result) for result in there
    }


def test_without_ray_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, corpus: list[Conversation], cell: MakeCell
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InvalidInput, match="Ray is not installed"):
        list(run_on_ray([cell()], corpus, {}, "local"))


@pytest.mark.process
@pytest.mark.slow
def test_the_numbers_are_the_same_on_a_ray_cluster(corpus: list[Conversation], cell: MakeCell) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install ray")
    cells = [cell(summariser="lossy(0.3)", seed=seed) for seed in (1, 2)]
    here = run_cells(cells, corpus, {}, kept=None, resume=False)
    there = run_cells(cells, corpus, {}, kept=None, resume=False, ray="local")
    assert {result.cell.key: without_times(result) for result in here} == {
        result.cell.key: without_times(result) for result in there
    }
