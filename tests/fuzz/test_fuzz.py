"""A short run of the fuzzer, the same every time. The long one is a command: `python -m tests.fuzz`."""

from __future__ import annotations

import pytest

from tests.fuzz.__main__ import GROWTH, HANG_MS
from tests.fuzz.kinds import KINDS, Kind
from tests.fuzz.running import run


def check(kind: Kind, inputs: int) -> None:
    outcome = run(kind, inputs, seed=1)
    assert not outcome.crashes
    assert outcome.slowest < HANG_MS, outcome.slowest_input
    assert outcome.growth < GROWTH


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_mutated_input_neither_crashes_nor_holds_up_what_decodes_it(kind: Kind):
    check(kind, 400 if kind.is_frame else 60)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_more_mutated_input_neither_crashes_nor_holds_up_what_decodes_it(kind: Kind):
    check(kind, 10_000 if kind.is_frame else 1_500)
