"""The tables in the README, and the rule by which the default is chosen."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec
import pytest

from gemini_companion.cli.main import run
from gemini_companion.engine.compression.strategies.registry import STRATEGIES
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.evaluation.measuring import Share
from gemini_companion.evaluation.recall_rows import RecallRow, recall_lines
from gemini_companion.evaluation.script import Measured
from gemini_companion.evaluation.statistics import Estimate
from gemini_companion.evaluation.strategy_table import (
    BEGIN,
    COUNTED,
    END,
    HEADINGS,
    RULE,
    Candidate,
    candidates_of,
    choose,
    with_table,
)
from gemini_companion.evaluation.summary import Row

ROOT = Path(__file__).resolve().parents[2]
NATURAL = ROOT / "tests" / "data" / "natural"
SPLIT = Candidate("split", rules=0.9, wanted=0.8, size=0.2, undoes=True)


def chosen(*others: Candidate) -> str:
    choice = choose([SPLIT, *others])
    assert choice is not None
    assert choice == choose([*reversed(others), SPLIT])
    return choice.strategy


def test_rules_go_before_everything_else() -> None:
    assert chosen(Candidate("other", rules=0.95, wanted=0.1, size=0.9, undoes=True)) == "other"


def test_where_rules_are_kept_alike_open_tasks_and_what_is_needed_decide() -> None:
    assert chosen(Candidate("other", rules=0.89, wanted=0.9, size=0.9, undoes=True)) == "other"


def test_where_both_are_alike_the_smallest_is_chosen() -> None:
    assert chosen(Candidate("other", rules=0.89, wanted=0.81, size=0.1, undoes=True)) == "other"
    assert chosen(Candidate("other", rules=0.91, wanted=0.81, size=0.3, undoes=True)) == "split"


def test_a_strategy_whose_undo_brings_back_less_is_out() -> None:
    assert chosen(Candidate("other", rules=1.0, wanted=1.0, size=0.1, undoes=False)) == "split"
    assert choose([Candidate("split", rules=1.0, wanted=1.0, size=0.1, undoes=False)]) is None


def row(measured: Measured, summariser: str, undo: int = 9, **metrics: float) -> Row:
    def number(mean: float) -> Estimate:
        return Estimate(mean=mean, low=mean, high=mean, worst_seed=mean, best_seed=mean, conversations=9, cells=9)

    return Row(
        measured=measured,
        arm="full",
        strategy="split",
        summariser=summariser,
        number=4,
        metrics={name.replace("__", "."): number(mean) for name, mean in metrics.items()},
        undo_equal=Share(undo, 9),
        statuses={},
    )


def test_a_strategy_is_judged_by_the_worse_of_the_summarisers() -> None:
    rows = [
        row("labels", "empty", labels__rules=0.5, labels__open=0.4, of_said=0.6),
        row("labels", "offline", labels__rules=1.0, labels__open=1.0, of_said=0.6),
        row("needed", "empty", needed__names=0.6, needed__values=0.8, of_said=0.2),
        row("needed", "offline", needed__names=0.9, needed__values=0.8, of_said=0.2, undo=8),
    ]
    (found,) = candidates_of(rows, 4)
    assert (found.rules, found.undoes) == (0.5, False)
    assert found.wanted == pytest.approx(0.6)
    assert found.size == pytest.approx(0.4)
    assert candidates_of(rows[:2], 4) == []


def test_the_table_goes_between_its_markers_and_nothing_else_changes() -> None:
    text = f"# Title\n\n{BEGIN}\nold\n{END}\n\nafter\n"
    assert with_table(text, "| new |") == f"# Title\n\n{BEGIN}\n\n| new |\n\n{END}\n\nafter\n"
    assert with_table(with_table(text, "a"), "b") == with_table(text, "b")


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}"])
def test_a_document_without_one_place_for_the_table_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        with_table(text, "a")


def test_the_command_writes_the_tables_of_the_strategies_that_it_measured(tmp_path: Path, folder: Path) -> None:
    document = tmp_path / "DOC.md"
    document.write_text(f"# Title\n\n{BEGIN}\n{END}\n", "utf-8")
    labelled = tmp_path / "labelled"
    labelled.mkdir()
    shutil.copy(NATURAL / "pt-agentes-offline.json", labelled)
    arguments = ["eval", str(labelled), str(folder), "--arms", "full", "--strategies", "split,record"]
    arguments += ["--summarisers", "empty", "--seeds", "1", "--passes", "1,2", "--sample", "1"]
    assert run([*arguments, "--table", str(document), "--out", str(tmp_path / "out")], {}) == 0
    check_tables(document.read_text("utf-8"), {"split", "record"})
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "What people labelled, summariser <code>empty</code>" in page
    assert "What is needed next, summariser <code>empty</code>" in page
    assert run([*arguments, "--table", str(tmp_path / "missing.md")], {}) == 2


def test_planted_texts_alone_make_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "DOC.md"
    document.write_text(f"{BEGIN}{END}", "utf-8")
    arguments = ["--arms", "full", "--summarisers", "oracle", "--seeds", "1", "--passes", "1", "--sample", "1"]
    assert run(["eval", *arguments, "--table", str(document)], {}) == 2
    assert "No strategies were measured" in capsys.readouterr().err


def test_the_readme_has_tables_of_every_strategy_that_eval_has_written() -> None:
    check_tables((ROOT / "README.md").read_text("utf-8"), set(STRATEGIES))


def check_tables(text: str, strategies: set[str]) -> None:
    """Heads and rows of the three tables are those that `eval` writes, numbers in every cell, the rule below."""
    between = text.partition(BEGIN)[2].partition(END)[0]
    tables = [block.splitlines() for block in between.split("\n\n") if block.startswith("|")]
    assert len(tables) == len(HEADINGS)
    for lines, heading in zip(tables, HEADINGS, strict=True):
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        assert cells[0] == list(heading)
        assert cells[2][0] == COUNTED
        assert {line[0].strip("`") for line in cells[3:]} == strategies
        for line in cells[3:]:
            assert all(re.fullmatch(r"[\d,.]+( %)?|–|[\d.–]+( / [\d.–]+)+( %)?", cell) for cell in line[2:]), line
    assert RULE in between


def test_recall_is_told_in_lines_with_intervals() -> None:
    lines = recall_lines([RecallRow(name="locomo, recall", value=0.561, low=0.52, high=0.604, of=784)])
    assert lines[1] == ["locomo, recall", "56 %", "[52, 60]", "784"]
    assert msgspec.json.encode(lines)
