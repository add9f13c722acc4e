"""A run is stored and read again as it was; what is no run is refused with what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.performance.__main__ import main
from tests.performance.figures import Figure, Skipped
from tests.performance.runs import LARGEST, Machine, Refused, Run, Took, load, save, this_machine

MACHINE = Machine(processor="Made up 9", processors=2, memory=24.0, system="Linux", versions={"Python": "3.11.7"})


def a_run(value: float = 3.0, target: float | None = 4.0, name: str = "a row") -> Run:
    took = Took(name="turns", seconds=1.0, load_before=None, load_after=0.5, others=0.25, tries=2)
    figure = Figure(bench="turns", name=name, value=value, unit="ms", target=target, spread=0.5, rounds=7, others=0.25)
    return Run(
        commit="b" * 40 + "+",
        began="2026-11-23 15:00",
        seconds=12.5,
        machine=MACHINE,
        benches=[took],
        findings=[figure, Skipped(bench="turns", name="another", reason="not here")],
    )


def test_what_is_stored_is_read_as_it_was(tmp_path: Path) -> None:
    save(a_run(), tmp_path / "run.json")
    assert load(tmp_path / "run.json") == a_run()
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_ratios_and_verdicts_stand_in_the_file_for_other_readers(tmp_path: Path) -> None:
    save(a_run(), tmp_path / "run.json")
    told = json.loads((tmp_path / "run.json").read_text("utf-8"))["findings"][0]
    assert (told["ratio"], told["met"]) == (None, "yes")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"[1, 2]",
        b'{"format": "gemini-companion-bench/2"}',
        b'{"machine": {}, "findings": []}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
    ],
    ids=lambda data: data[:20].decode("latin-1"),
)
def test_a_foreign_file_is_refused_with_what_to_do(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "other").write_bytes(data)
    with pytest.raises(Refused, match=r"no stored run.*--save"):
        load(tmp_path / "other")


def test_a_file_with_signs_for_the_terminal_is_refused(tmp_path: Path) -> None:
    save(a_run(name="red \x1b[31m"), tmp_path / "run.json")
    with pytest.raises(Refused, match="characters that no run has"):
        load(tmp_path / "run.json")


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(Refused, match="bytes, which no run has"):
        load(tmp_path / "huge")


def test_a_file_that_is_not_there_is_told_of_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--compare", str(tmp_path / "none"), str(tmp_path / "none")]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "No such file" in told


def test_two_stored_runs_are_compared_without_measuring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(a_run(3.0), tmp_path / "before.json")
    save(a_run(30.0, target=None), tmp_path / "after.json")
    files = [str(tmp_path / "before.json"), str(tmp_path / "after.json")]
    assert main(["--compare", *files]) == 0
    assert "1 rows in both: 0 better, 1 worse, 0 same." in capsys.readouterr().out
    assert main(["--compare", *files, "--check"]) == 1


def test_a_missed_target_fails_a_check_and_nothing_else(tmp_path: Path) -> None:
    save(a_run(5.0), tmp_path / "missed.json")
    save(a_run(3.0), tmp_path / "met.json")
    missed, met = str(tmp_path / "missed.json"), str(tmp_path / "met.json")
    assert main(["--compare", missed, missed]) == 0
    assert main(["--compare", missed, missed, "--check"]) == 1
    assert main(["--compare", met, met, "--check"]) == 0


@pytest.mark.process
def test_a_commit_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--against", "no-such-commit-at-all", "--only", "servers"]) == 2
    told = capsys.readouterr().err
    assert "Name a commit" in told or "Install it" in told


@pytest.mark.process
def test_this_machine_can_be_stored() -> None:
    machine = this_machine()
    assert machine.processors >= 1
    assert machine.versions["Python"]
    assert all(text.isprintable() for text in (machine.processor, machine.system, *machine.versions.values()))


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "x"])
def test_minutes_that_say_nothing_are_refused(minutes: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--minutes", minutes])
    assert "--minutes" in capsys.readouterr().err
