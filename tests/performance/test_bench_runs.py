"""The benchmarks can be run; what they say is for reading."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.performance.__main__ import main
from tests.performance.gemini_cli import Unavailable
from tests.performance.panel import figures


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


def test_the_panels_figures_stand_in_the_table_with_their_limits() -> None:
    told = {"list": {"values": {"openMs": 80.5, "nodes": 900}, "attempts": 1}}
    found = {one.name: one for one in figures(told, {"list": {"openMs": 400}})}
    assert (found["list: open"].value, found["list: open"].unit, found["list: open"].verdict) == (80.5, "ms", "yes")
    assert (found["list: nodes"].unit, found["list: nodes"].verdict) == ("", "")


@pytest.mark.parametrize("told", [{"list": 3}, {"list": {"values": {"openMs": None}}}, {"list": {}}])
def test_what_is_no_figures_of_the_panel_is_named(told: dict[str, Any]) -> None:
    with pytest.raises(Unavailable):
        list(figures(told, {}))
