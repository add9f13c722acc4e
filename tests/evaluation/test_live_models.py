"""A real provider in a run: Google's SDK against the emulated API."""

from __future__ import annotations

import pytest

from gemini_companion.evaluation.cell import CellResult, Workbench
from gemini_companion.evaluation.conversations import Conversation
from tests.evaluation.conftest import MakeCell
from tests.support.emulator import Emulator, Summariser


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
