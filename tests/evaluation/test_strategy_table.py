"""The table in the README, and the rule by which the default is chosen."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from gemini_companion.cli.main import run
from gemini_companion.engine.compression.strategies.registry import STRATEGIES
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.evaluation.measuring import Share
from gemini_companion.evaluation.recall_rows import RecallRow, recall_lines
from gemini_companion.evaluation.statistics import Estimate
from gemini_companion.evaluation.strategy_table import BEGIN, END, HEADING, RULE, choose, with_table
from gemini_companion.evaluation.summary import Row

ROOT = Path(__file__).resolve().parents[2]


def number(mean: float, low: float | None = None, high: float | None = None) -> Estimate:
    low, high = mean if low is None else low, mean if high is None else high
    return Estimate(mean=mean, low=low, high=high, worst_seed=mean, best_seed=mean, conversations=9, cells=9)


def row(
    strategy: str, kept: tuple[float, float, float], *, size: float = 0.3, rules: float = 1.0, undo: int = 9
) -> Row:
    metrics = {"kept": number(*kept), "of_said": number(size), "rules": number(rules)}
    return Row(
        arm="full", strategy=strategy, summariser="x", number=5, metrics=metrics, undo_equal=Share(undo, 9), statuses={}
    )


SPLIT = row("split", (0.8, 0.75, 0.85))


def test_a_strategy_that_keeps_clearly_more_at_the_same_size_is_chosen() -> None:
    assert choose([SPLIT, row("semantic", (0.9, 0.86, 0.95))], "split").strategy == "semantic"


@pytest.mark.parametrize(
    "other",
    [
        row("semantic", (0.9, 0.84, 0.95)),
        row("semantic", (0.9, 0.86, 0.95), size=0.4),
        row("semantic", (0.9, 0.86, 0.95), rules=0.99),
        row("semantic", (0.9, 0.86, 0.95), undo=8),
    ],
    ids=["intervals overlap", "larger", "a rule is lost", "an undo brings back less"],
)
def test_without_a_clear_win_the_default_stays(other: Row) -> None:
    assert choose([SPLIT, other], "split").strategy == "split"


def test_of_several_that_win_the_one_that_keeps_most_is_chosen() -> None:
    rows = [SPLIT, row("reserve", (0.9, 0.86, 0.95)), row("semantic", (0.92, 0.87, 0.95))]
    assert choose(rows, "split").strategy == "semantic"
    assert choose(list(reversed(rows)), "split").strategy == "semantic"


def test_nothing_is_chosen_where_the_default_was_not_measured() -> None:
    assert choose([row("reserve", (0.9, 0.86, 0.95))], "split").strategy == "split"


def test_the_table_goes_between_its_markers_and_nothing_else_changes() -> None:
    text = f"# Title\n\n{BEGIN}\nold\n{END}\n\nafter\n"
    assert with_table(text, "| new |") == f"# Title\n\n{BEGIN}\n\n| new |\n\n{END}\n\nafter\n"
    assert with_table(with_table(text, "a"), "b") == with_table(text, "b")


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}"])
def test_a_document_without_one_place_for_the_table_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        with_table(text, "a")


def test_the_command_writes_the_table_of_the_strategies_that_it_measured(tmp_path: Path, folder: Path) -> None:
    document = tmp_path / "DOC.md"
    document.write_text(f"# Title\n\n{BEGIN}\n{END}\n", "utf-8")
    arguments = ["eval", str(folder), "--arms", "full", "--strategies", "split,reserve", "--summarisers", "oracle"]
    assert run([*arguments, "--seeds", "1", "--passes", "1", "--sample", "1", "--table", str(document)], {}) == 0
    check_table(document.read_text("utf-8"), {"split", "reserve"})
    assert run([*arguments, "--table", str(tmp_path / "missing.md")], {}) == 2


def test_the_readme_has_a_table_of_every_strategy_that_eval_has_written() -> None:
    check_table((ROOT / "README.md").read_text("utf-8"), set(STRATEGIES))


def check_table(text: str, strategies: set[str]) -> None:
    """Head and rows of the table are those that `eval` writes, numbers in every cell, the rule below."""
    between = text.partition(BEGIN)[2].partition(END)[0]
    lines = [line for line in between.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == list(HEADING)
    assert {line[0].strip("`") for line in cells[2:]} == strategies
    for line in cells[2:]:
        assert all(re.fullmatch(r"[\d,.]+( %)?|–", cell) for cell in line[1:])
    assert RULE in between


def test_recall_is_told_in_lines_with_intervals() -> None:
    lines = recall_lines([RecallRow(name="locomo, recall", value=0.561, low=0.52, high=0.604, of=784)])
    assert lines[1] == ["locomo, recall", "56 %", "[52, 60]", "784"]
    assert msgspec.json.encode(lines)
