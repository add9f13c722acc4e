"""`gemini-companion eval` as a person types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gemini_companion.cli.main import run
from tests.support.patience import PATIENCE
from tests.support.processes import running

QUICK = ["--arms", "prompt-only", "--summarisers", "oracle", "--seeds", "1", "--passes", "1"]


def test_a_folder_of_conversations_becomes_a_table_and_three_kinds_of_files(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["eval", str(folder), *QUICK, "--out", str(out)], {}) == 0
    printed = capsys.readouterr()
    assert "Summariser: oracle" in printed.out
    assert str(out / "report.html") in printed.out
    assert "2 of 2 runs" in printed.err
    document = json.loads((out / "results.json").read_text("utf-8"))
    assert (document["corpus"], document["cells"], document["cellsMissing"]) == ("corpus", 2, 0)
    assert (out / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert len(list((out / "cells").iterdir())) == 2


def test_a_resumed_run_measures_nothing_twice_and_gives_the_same_document(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["eval", str(folder), *QUICK, "--out", str(out)], {}) == 0
    first = (out / "results.json").read_bytes()
    times = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    capsys.readouterr()
    assert run(["eval", str(folder), *QUICK, "--out", str(out), "--resume"], {}) == 0
    assert capsys.readouterr().err.strip() == "2 of 2 runs"
    assert (out / "results.json").read_bytes() == first
    assert {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()} == times


def test_json_is_all_that_stands_on_stdout(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(["eval", str(folder), *QUICK, "--json", "--sample", "1"], {}) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["seeds"] == 1


def test_a_bare_installation_has_conversations_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", *QUICK, "--sample", "1", "--json"], {}) == 0
    assert json.loads(capsys.readouterr().out)["corpus"] == "synthetic"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["/nowhere/at/all"], "not a folder"),
        (["--arms", "fullest"], "no arm"),
        (["--arms", ","], "empty"),
        (["--strategies", "guess"], "no strategy"),
        (["--summarisers", "orakel"], "no summariser"),
        (["--passes", "0"], "passes"),
        (["--measure", "luck"], "no measure"),
        (["--measure", "labels"], "no labels"),
        (["--resume"], "--out"),
    ],
)
def test_what_cannot_be_understood_is_told_with_what_can(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", *arguments], {}) == 2
    assert told in capsys.readouterr().err


def test_a_folder_without_conversations_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text('{"history": []}', "utf-8")
    (tmp_path / "b.json").write_text("{", "utf-8")
    (tmp_path / "c.json").write_text(
        '{"history": [{"role": "user", "parts": [{"functionCall": {"name": "x"}}]}]}', "utf-8"
    )
    assert run(["eval", str(tmp_path)], {}) == 2
    assert "holds no conversation" in capsys.readouterr().err


def test_runs_that_fail_are_told_and_make_the_command_fail(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["eval", str(folder), "--arms", "prompt-only", "--seeds", "1", "--passes", "1"]
    assert run([*arguments, "--summarisers", f"recorded:{tmp_path / 'missing'}"], {}) == 1
    assert "Not measured" in capsys.readouterr().out


@pytest.mark.process
def test_an_interrupted_evaluation_shows_what_is_done_and_goes_on_later(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "gemini_companion", "eval", str(folder), "--out", str(out), "--seeds", "5"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        told = [process.stderr.readline() for _ in range(2)]  # nothing is done yet; a tenth is
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert told[0].startswith("0 of")
    assert "--resume" in rest
    document = json.loads((out / "results.json").read_text("utf-8"))
    assert document["cells"] == len(list((out / "cells").glob("*.json"))) > 0
    assert document["cellsMissing"] > 0
    assert (out / "report.html").is_file()


@pytest.mark.process
def test_no_worker_outlives_an_evaluation_that_is_killed(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gemini_companion", "eval", str(folder), "--seeds", "5", "--processes", "2"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        for _ in range(2):
            process.stderr.readline()
        process.kill()
        _, rest = process.communicate(timeout=PATIENCE)  # the pipes end when the last worker does
    assert "Traceback" not in rest
