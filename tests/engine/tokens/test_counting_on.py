"""A ledger that goes on where another one was, over a restart: the same number, and nothing that cannot be."""

from __future__ import annotations

import msgspec
import pytest

from gemini_companion.engine.tokens.ledger import (
    FACTOR_RANGE,
    UNKNOWN_TOKENS,
    EstimatedParts,
    LedgerMemory,
    TokenLedger,
)

PARTS = EstimatedParts(system_instruction=3_000, messages=40_000, tool_outputs=9_000)
LATER = EstimatedParts(system_instruction=3_000, messages=41_000, tool_outputs=12_000)


def taught() -> TokenLedger:
    ledger = TokenLedger()
    assert ledger.observe("m", 1, EstimatedParts(system_instruction=3_000, messages=9_000), 13_000)
    assert ledger.observe("m", 1, PARTS, 57_000)
    return ledger


def memory() -> LedgerMemory:
    found = taught().memory("m", 1)
    assert found is not None
    return msgspec.json.decode(msgspec.json.encode(found), type=LedgerMemory)


def test_a_ledger_that_goes_on_says_what_the_other_one_would_have_said() -> None:
    again = TokenLedger()
    again.recall(memory(), 7)
    for parts in (PARTS, LATER):
        assert again.read("m", 7, parts) == taught().read("m", 1, parts)
        assert again.read("m", 7, parts).source == "api"
    assert again.read("m", 8, PARTS).source == "estimate"


def test_in_another_view_it_goes_on_from_what_the_counts_taught() -> None:
    before = taught().read("m", 2, LATER)
    assert before.tokens != TokenLedger().read("m", 2, LATER).tokens
    assert before.source == "estimate"
    for kept, epoch in ((taught().memory("m", 2), 7), (taught().memory("m", 1), None)):
        again = TokenLedger()
        assert kept is not None
        again.recall(kept, epoch)
        assert again.read("m", 7, LATER) == before


def test_there_is_nothing_to_go_on_from_of_a_model_that_was_never_counted_for() -> None:
    assert taught().memory("other", 1) is None
    assert TokenLedger().memory("m", 1) is None


def test_what_was_counted_since_stands() -> None:
    ledger = taught()
    before = ledger.read("m", 1, LATER)
    ledger.recall(msgspec.structs.replace(memory(), measured=60_000), 1)
    assert ledger.read("m", 1, LATER) == before


@pytest.mark.parametrize("measured", [-5, 0, 10**12])
def test_a_count_that_cannot_be_counts_for_nothing(measured: int) -> None:
    ledger = TokenLedger()
    ledger.recall(msgspec.structs.replace(memory(), measured=measured), 1)
    assert ledger.read("m", 1, PARTS) == TokenLedger().read("m", 1, PARTS)


def test_what_cannot_have_been_learnt_is_brought_within_its_bounds() -> None:
    ledger = TokenLedger()
    ledger.recall(msgspec.structs.replace(memory(), offset=1e300, factor=1e300, media_factor=-1e300), 1)
    most = PARTS.surroundings + UNKNOWN_TOKENS + FACTOR_RANGE[1] * PARTS.text
    assert 0 < ledger.estimate("m", PARTS) <= most
