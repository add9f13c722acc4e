"""After ten compressions by summarisers of every kind each rule stands in every request."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.survival import PASSES, SUMMARISERS, survival


@pytest.mark.parametrize("name", SUMMARISERS)
async def test_every_rule_survives_ten_passes_whoever_summarises(tmp_path: Path, name: str):
    assert await survival(tmp_path, name, with_ledger=True, seed=1) == [1.0] * PASSES


async def test_a_forgetful_summary_alone_loses_most_of_them(tmp_path: Path):
    shares = await survival(tmp_path, "lossy(0.3)", with_ledger=False, seed=1)
    assert shares[-1] < 0.5
