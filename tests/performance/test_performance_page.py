"""The page of performance says what the stored run says, and so does its picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.performance.__main__ import main
from tests.performance.benches import BENCHES, WHOLE
from tests.performance.curves import NAME, Curve, Point, curves, growth
from tests.performance.drawing import drawn, spoken
from tests.performance.figures import Figure
from tests.performance.options import ROOT
from tests.performance.page import MEASURED, PAGE, PICTURE, picture_of, text_of
from tests.performance.runs import load


@pytest.mark.parametrize("name", [PAGE, PICTURE])
def test_the_checked_in_file_is_what_the_stored_run_says(name: str) -> None:
    run = load(MEASURED)
    expected = text_of(run) if name == PAGE else picture_of(run)
    repair = f"run: python -m tests.performance --page {MEASURED.relative_to(ROOT).as_posix()}"
    assert (ROOT / "server" / name).read_text("utf-8") == expected, repair


def test_the_commands_on_the_page_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    known = set(re.findall(r"--[a-z]+", capsys.readouterr().out))
    shown = re.findall(r"tests\.performance (--[a-z]+)", (ROOT / "server" / PAGE).read_text("utf-8"))
    assert shown
    assert set(shown) <= known


@pytest.mark.parametrize("key", ["turn", "open", "import", "fork", "page", "compression"])
def test_what_people_wait_for_has_been_measured_over_sizes(key: str) -> None:
    (curve,) = (curve for curve in curves(load(MEASURED).figures) if curve.key == key)
    assert len(curve.points) >= 3


def test_the_stored_run_is_no_hurried_one() -> None:
    assert not load(MEASURED).quick


def test_the_page_shows_no_benchmark_that_there_is_no_more() -> None:
    named = {finding.bench for finding in load(MEASURED).findings}
    assert named <= {*BENCHES, NAME}


def test_no_benchmark_may_take_a_third_of_the_time_by_itself() -> None:
    assert all(bench.seconds <= WHOLE / 3 for bench in BENCHES.values())
    assert all((Path(__file__).parent / f"{bench.module}.py").is_file() for bench in BENCHES.values())


def stored(what: str, contents: int, ms: float) -> Figure:
    return Figure(bench="stored", name=f"{what}, {contents:,} contents", value=ms, unit="ms")


def test_the_power_of_growth_is_one_where_time_grows_as_the_chat_does() -> None:
    made = [stored("import", size, size / 10) for size in (100, 1_000, 10_000, 100_000)]
    (figure,) = growth(made)
    assert figure.value == pytest.approx(1.0)
    assert "1,000 to 100,000 contents" in figure.name
    assert figure.verdict == "yes"


def test_what_grows_faster_than_the_chat_misses_its_target() -> None:
    (figure,) = growth([stored("open", 1_000, 1.0), stored("open", 10_000, 20.0)])
    assert figure.verdict == "NO"


def test_a_picture_is_well_formed_whatever_the_names_and_numbers_are() -> None:
    made = [
        Curve("one", 'A <b> & "c"', (Point(100, 0.004, None),)),
        Curve("none", "Nothing", ()),
        Curve("two", "Zero beside", (Point(100, 1.0, 0.0), Point(100_000, 90_000.0, 3.0))),
        Curve("zero", "All zero", (Point(100, 0.0, None),)),
    ]
    assert ElementTree.fromstring(drawn(made, peer="<peer>")) is not None


def test_times_are_said_as_people_say_them() -> None:
    assert [spoken(ms) for ms in (0.01, 0.5, 12.0, 1_500.0)] == ["10 µs", "500 µs", "12 ms", "1.5 s"]
