"""Benchmarks keep to their time, are run again where others had the machine, and say what they left out."""

from __future__ import annotations

import ast
import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.performance.against import OWN
from tests.performance.figures import Figure, Skipped
from tests.performance.load import OthersWork
from tests.performance.options import ROOT
from tests.performance.running import Allowance, Attempt, Job, Ran, measure, run_once
from tests.performance.runs import Took
from tests.support.processes import until_gone


def job(seconds: float = 50.0) -> Job:
    return Job(name="turns", module="turns", seconds=seconds)


def ran(others: float | None, *names: str, seconds: float = 10.0, fault: str = "") -> Ran:
    took = Took(name="turns", seconds=seconds, load_before=1.0, load_after=1.0, others=others)
    return Ran([Figure(bench="turns", name=name, value=others or 0.0, unit="ms") for name in names], took, fault)


def scripted(*results: Ran, asked: list[Job] | None = None) -> Attempt:
    left = list(results)

    def attempt(one: Job, tell: Callable[[str], None]) -> Ran:
        if asked is not None:
            asked.append(one)
        return left.pop(0)

    return attempt


def said(what: str) -> None:
    assert what


def allowance(seconds: float = 100.0, retries: float = 100.0) -> Allowance:
    return Allowance(seconds, retries=retries, clock=lambda: 0.0)


def test_a_quiet_benchmark_is_run_once() -> None:
    found = measure(job(), allowance(), said, attempt=scripted(ran(0.05, "a")))
    assert found.took
    assert (found.took.tries, found.took.others) == (1, 0.05)


@pytest.mark.parametrize(("first", "second"), [(0.6, 0.2), (0.2, 0.6)])
def test_a_disturbed_one_is_run_again_and_the_quieter_counts(first: float, second: float) -> None:
    found = measure(job(), allowance(), said, attempt=scripted(ran(first, "a"), ran(second, "a")))
    assert found.took
    assert (found.took.tries, found.took.others) == (2, 0.2)
    assert [one.value for one in found.findings if isinstance(one, Figure)] == [0.2]


def test_a_disturbed_one_that_came_to_its_end_is_not_given_up_for_a_quiet_one_that_did_not() -> None:
    found = measure(job(), allowance(), said, attempt=scripted(ran(0.6, "a", "b"), ran(0.2, "a", fault="late")))
    assert [one.name for one in found.findings] == ["a", "b"]


def test_repeating_has_a_bound_for_the_whole_run() -> None:
    left = allowance(retries=15.0)
    measure(job(), left, said, attempt=scripted(ran(0.6, "a"), ran(0.6, "a")))
    found = measure(job(), left, said, attempt=scripted(ran(0.6, "a")))
    assert found.took
    assert found.took.tries == 1


def test_nobody_knows_the_load_and_nothing_is_repeated() -> None:
    assert measure(job(), allowance(), said, attempt=scripted(ran(None, "a"))).took


def test_rows_that_did_not_fit_are_named_with_what_gives_them_time() -> None:
    late = ran(0.0, "a", fault="its 50 seconds were over")
    found = measure(job(), allowance(), said, expected=["a", "b"], attempt=scripted(late))
    (missing,) = (one for one in found.findings if isinstance(one, Skipped))
    assert (missing.name, missing.reason) == ("b", "its 50 seconds were over; `--only turns` gives more time")


def test_nothing_is_begun_when_the_time_is_over() -> None:
    found = measure(job(), allowance(0.5), said, attempt=scripted())
    (missing,) = found.findings
    assert isinstance(missing, Skipped)
    assert "the time of the whole run was over" in missing.reason


def test_a_benchmark_gets_no_more_than_what_is_left() -> None:
    asked: list[Job] = []
    measure(job(50.0), allowance(20.0), said, attempt=scripted(ran(0.0, "a"), asked=asked))
    assert [one.seconds for one in asked] == [20.0]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A working tree whose benchmarks a test writes."""
    folder = tmp_path / "tests" / "performance"
    folder.mkdir(parents=True)
    return tmp_path


MEASURE = """
import json, subprocess, sys, time
def say(**line): print(json.dumps(line), flush=True)
say(tell="a size"); say(type="figure", bench="b", name="first", value=1.5, unit="ms", others=0.25)
"""


def written(tree: Path, program: str) -> Job:
    (tree / "tests" / "performance" / "one.py").write_text(MEASURE + program, "utf-8")
    return Job(name="b", module="b", seconds=20.0, tree=tree)


@pytest.mark.process
def test_findings_come_out_of_the_process_with_the_share_of_others(tree: Path) -> None:
    told: list[str] = []
    found = run_once(written(tree, "say()"), told.append)
    (figure,) = found.findings
    assert isinstance(figure, Figure)
    assert (figure.name, figure.value, figure.others, figure.is_busy) == ("first", 1.5, 0.25, True)
    assert found.took
    assert (found.fault, told) == ("", ["b: a size"])
    assert found.took.others is None or 0 <= found.took.others <= 1


def test_a_benchmark_of_an_earlier_commit_is_run_by_what_asks_nothing_of_that_commit() -> None:
    for name in OWN:
        program = ast.parse((ROOT / "tests" / "performance" / name).read_text("utf-8"))
        asked = {node.module for node in ast.walk(program) if isinstance(node, ast.ImportFrom)}
        asked |= {alias.name for node in ast.walk(program) if isinstance(node, ast.Import) for alias in node.names}
        product = {module for module in asked if module and module.startswith("gemini_companion")}
        assert not product, f"{name} fails where these are not as they are today"


@pytest.mark.process
def test_what_fails_keeps_what_was_found_and_says_why(tree: Path) -> None:
    found = run_once(written(tree, "raise OSError('no \\x1b[31mdisk')"), said)
    assert (len(found.findings), found.fault) == (1, "it failed: OSError: no [31mdisk")


@pytest.mark.process
async def test_what_takes_too_long_is_ended_with_all_that_it_started(tree: Path) -> None:
    program = (
        "child = subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'], stdin=subprocess.PIPE,"
        " start_new_session=True)\n"
        "say(type='figure', bench='b', name='child', value=child.pid, unit='')\n"
        "sys.stdin.read() if sys.stdin.isatty() else child.wait()"
    )
    slow = written(tree, program)
    found = await asyncio.to_thread(run_once, Job(name="b", module="b", seconds=3.0, tree=slow.tree), said)
    child = next(one for one in found.findings if isinstance(one, Figure) and one.name == "child")
    assert found.fault == "its 3 seconds were over"
    await until_gone(int(child.value))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system has no /proc/stat")
def test_our_own_work_is_not_that_of_others() -> None:
    others = OthersWork()
    begun = os.times()
    while os.times().user - begun.user < 0.2:
        sum(range(10_000))
    share, whole = others.share(), others.whole()
    assert share is not None
    assert whole is not None
    assert 0 <= share <= 1 - 0.1 / ((os.times().elapsed - begun.elapsed) * (os.cpu_count() or 1))
