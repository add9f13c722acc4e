"""Compressions that no other one covers are found once for each change, and always the right ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.covering import InForce, outermost
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import TokenLedger
from tests.support.logs import outcome_of


def compression(number: int, covers: list[int]) -> CompressionEntry:
    return CompressionEntry(
        id=f"e{number}",
        time=0,
        seq=number,
        compression_id=f"k{number}",
        hides=None,
        covers=tuple(f"k{one}" for one in covers),
        result=outcome_of("COMPRESSED"),
    )


@given(st.lists(st.tuples(st.integers(1, 12), st.lists(st.integers(1, 12), max_size=4), st.booleans()), max_size=30))
def test_they_are_those_that_none_covers_after_any_changes_and_in_a_copy(
    steps: list[tuple[int, list[int], bool]],
) -> None:
    kept = InForce()
    for number, covers, takes_out in steps:
        before, said = kept.copied(), list(kept.outermost)
        if takes_out:
            kept.remove([f"k{number}"])
        else:
            kept.add(compression(number, covers))
        assert list(kept.outermost) == outermost(kept.values())
        assert list(before.outermost) == said, "a fork goes on by itself"


def test_they_are_not_sought_again_as_long_as_nothing_changes() -> None:
    history = History(TokenLedger().measure, [compression(number, list(range(1, number))) for number in range(1, 50)])
    found = history.in_force.outermost
    assert [one.compression_id for one in found] == ["k49"]
    assert history.in_force.outermost is found
    assert history.copied().in_force.outermost == found
