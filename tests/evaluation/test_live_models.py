"""A real provider in a run: Google's SDK against the emulated API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gemini_companion.evaluation.cell import CellResult, Workbench
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.summarisers.registry import identity_of, parse_summariser
from tests.evaluation.conftest import MakeCell
from tests.support.emulator import Emulator, Summariser
from tests.support.tiny_gguf import write_tiny_gguf


def run_live(corpus: list[Conversation], cell: MakeCell, emulator: Emulator) -> CellResult:
    env = {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url, "HOME": "/nowhere"}
    return Workbench(corpus, env).run(cell(summariser="live(gemini-2.5-pro)"))


def test_a_live_model_writes_the_snapshots_and_answers_no_prompt(corpus: list[Conversation], cell: MakeCell) -> None:
    with Emulator(responder=Summariser("plausible")) as emulator:
        result = run_live(corpus, cell, emulator)
        paths = [request.path for request in emulator.requests]
    assert [numbers.status for numbers in result.passes] == ["COMPRESSED"]
    assert (result.passes[0].calls, result.undo_equal) == (2, True)
    assert len(paths) == 2
    assert all("gemini-2.5-pro:generateContent" in path for path in paths)


@pytest.mark.parametrize("mode", ["empty", "garbage"])
def test_a_live_model_that_writes_nothing_of_use_is_told_as_it_is(
    corpus: list[Conversation], cell: MakeCell, mode: str
) -> None:
    with Emulator(responder=Summariser(mode)) as emulator:  # pyright: ignore[reportArgumentType]
        result = run_live(corpus, cell, emulator)
    assert result.passes[0].status == "COMPRESSION_FAILED_EMPTY_SUMMARY"


def identity(text: str, home: Path, **env: str) -> str:
    return identity_of(parse_summariser(text), {"HOME": str(home), **env})


def with_settings(home: Path, **model: object) -> None:
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps({"model": model}), "utf-8")


def test_what_a_name_stands_for_is_the_content_of_its_file(tmp_path: Path) -> None:
    weights = write_tiny_gguf(tmp_path / "a.gguf")
    with_settings(tmp_path, local=str(weights))
    first = identity("live:local", tmp_path)
    assert first == identity("live:local", tmp_path)
    weights.rename(tmp_path / "b.gguf")
    with_settings(tmp_path, local=str(tmp_path / "b.gguf"))
    assert identity("live:local", tmp_path) == first, "the same weights by another name"
    write_tiny_gguf(tmp_path / "b.gguf", seed=8)
    other = identity("live:local", tmp_path)
    with_settings(tmp_path, local=str(tmp_path / "b.gguf"), tokenLimit=1_000)
    assert len({first, other, identity("live:local", tmp_path)}) == 3


def test_a_recording_is_its_content_and_other_names_say_it_all(tmp_path: Path) -> None:
    recording = tmp_path / "answers.jsonl"
    recording.write_text("one", "utf-8")
    first = identity(f"recorded:{recording}", tmp_path)
    recording.write_text("two", "utf-8")
    assert len({first, identity(f"recorded:{recording}", tmp_path), ""}) == 3
    assert identity("oracle", tmp_path) == ""
    assert identity("recorded:/nowhere", tmp_path) == ""
    assert identity("live:local", tmp_path / "without") == ""


def test_a_run_that_goes_on_with_other_weights_measures_them(cell: MakeCell) -> None:
    assert len({cell().key, cell(model="a").key, cell(model="b").key}) == 3
