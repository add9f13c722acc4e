"""What every test has: the folders of vectors and corpus, and no process beside its own unless it is marked so."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.examples import examples

settings.register_profile(
    "tests", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("random", settings.get_profile("tests"), derandomize=False)
# How busy the machine is decides nothing, nor does chance, unless it is asked for.
settings.load_profile("random" if os.environ.get("COMPANION_RANDOM") else "tests")

pytest_plugins = ["tests.support.emulator.fixtures"]

ROOT = Path(__file__).resolve().parent.parent
WITH_PROCESSES = (ROOT / "tests" / "e2e", ROOT / "tests" / "editors")
"""Every test of these folders is marked `process`."""

_running: list[pytest.Item] = []
"""The test that runs, if one does."""


def pytest_configure() -> None:
    """A shell that runs the tests in the background has them ignore Ctrl+C, and all that they start would inherit that."""
    os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")  # nobody's own keyring is touched
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(folder in item.path.parents for folder in WITH_PROCESSES):
            item.add_marker("process")


def pytest_collection_finish() -> None:
    """Thousands of tests are no garbage: no collection looks at them again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    _running[:] = [item]
    try:
        return (yield)
    finally:
        _running.clear()


def _only_marked_tests_start_processes(event: str, _arguments: tuple[object, ...]) -> None:
    if event == "subprocess.Popen" and _running and _running[0].get_closest_marker("process") is None:
        pytest.fail("This test starts a process: mark it `process`, or put it into tests/e2e.", pytrace=False)


sys.addaudithook(_only_marked_tests_start_processes)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The last word of a run: how much of it was left out, for want of data that is not in the repository."""
    missing = Counter(
        re.sub(r".*(COMPANION_[A-Z]+).*", r"\1", str(report.longrepr[2]))
        for report in terminalreporter.stats.get("skipped", [])
        if "COMPANION_" in str(report.longrepr[2])
    )
    if missing:
        told = ", ".join(f"{count} without {variable}" for variable, count in sorted(missing.items()))
        terminalreporter.write_line(f"Left out for want of data that is not in this repository: {told}.", yellow=True)


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or ROOT.parent / "shared" / default)


@pytest.fixture(scope="session")
def corpus_folder() -> Path:
    folder = _folder("COMPANION_CORPUS", "corpus")
    if not folder.is_dir():
        pytest.skip("no corpus: set COMPANION_CORPUS to its folder")
    return folder


@pytest.fixture(scope="session")
def corpus(corpus_folder: Path) -> dict[str, dict[str, Any]]:
    """Every conversation of the corpus by its name."""
    files = sorted(corpus_folder.glob("*/*.json"))
    return {f"{file.parent.name}/{file.stem}": json.loads(file.read_text("utf-8")) for file in files}
