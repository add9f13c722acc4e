"""The benchmarks can be run; what they say is for reading."""

from __future__ import annotations

import json

import pytest

from tests.performance.__main__ import main


@pytest.mark.process
def test_the_cheap_benchmarks_give_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    cheap = ("tokenError", "cancelling", "recall", "outputs", "servers", "agents")
    assert main(["--quick", *(word for name in cheap for word in ("--only", name))]) == 0
    printed = capsys.readouterr().out
    for expected in (
        "Japanese",
        "a compression",
        "a question",
        "the largest request",
        "50 tools",
        "a subagent",
        "targets met",
    ):
        assert expected in printed


@pytest.mark.process
def test_the_figures_can_be_had_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--json", "--only", "tokenError"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    figures = [finding for finding in findings if finding["type"] == "figure"]
    assert figures
    assert all(figure["value"] >= 0 for figure in figures)
