"""Random scripts of edits are taken back, or a conflict is told and nothing is changed; see `tests.edits`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.support.random_edits import make_studio, play


@pytest.mark.parametrize("first", range(0, 300, 50))
async def test_what_a_model_did_is_taken_back_or_a_conflict_is_told(tmp_path: Path, first: int) -> None:
    table = make_studio(tmp_path)
    clean = 0
    for number in range(first, first + 50):
        script = await play(Random(f"suite/{number}"), table)
        clean += not script.conflicts
    assert clean > 20
