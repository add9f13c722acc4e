"""A short chaos run with a fixed seed: the plan is the same each time, the verdict does not depend on how busy the machine is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.chaos.run import run

SEED = 4711
MINUTES = 0.3


@pytest.mark.slow
@pytest.mark.timeout(900)  # takes what it takes where fifty others want the processor
@pytest.mark.e2e
@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
async def test_in_half_a_minute_of_chaos_nothing_acknowledged_is_lost_and_nothing_runs_falsely(tmp_path: Path) -> None:
    report = await run(SEED, MINUTES, tmp_path, quick=True)
    print(report.text())
    assert [what for kind, what in report.violations if kind != "late"] == []
    assert report.counts["comparisons"] > 0
    assert report.faults["kill at each step"] > 0
