"""A copy of what a log says is the fold of that log, and what either takes in later is nothing of the other's."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.compression.breaker import Breaker
from gemini_companion.engine.compression.experience import Experience
from gemini_companion.engine.compression.preparing import Prepared
from gemini_companion.engine.history.counting import Counting
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import Entry, ResumeEntry
from gemini_companion.engine.history.tool_state import ToolState
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.engine.history.view import History
from gemini_companion.engine.statistics.spending import Spending
from tests.support.examples import examples
from tests.support.logs import LEDGER
from tests.support.random_books import write
from tests.support.random_programs import PROGRAMS_WITH_RULES, Step

FOLDS = (Transcript, ToolState, Breaker, Experience, Prepared, Spending)


def history(entries: Sequence[Entry]) -> History:
    return History(LEDGER.measure, entries)


def folded(kind: Any, entries: Sequence[Entry]) -> Any:
    fold = history(()) if kind is History else kind()
    for entry in entries:
        fold.apply(entry)
    return fold


def told(value: Any) -> Any:
    """All that a fold says, as values that can be compared."""
    if isinstance(value, Counting):  # what is kept of its sizes says the same whoever keeps it
        return value.has_fresh
    if isinstance(value, Fold):
        return {name: told(one) for name, one in vars(value).items() if not callable(one)}
    if isinstance(value, Item):
        return value.kind, value.seq, value.entry_id, value.turn_id, value.compression_id, value.content, value.measure
    if isinstance(value, dict):
        return [(key, told(one)) for key, one in value.items()]
    if isinstance(value, list | tuple | deque):
        return [told(one) for one in value]
    return value


@pytest.mark.parametrize("kind", [History, *FOLDS])
@given(PROGRAMS_WITH_RULES, st.integers(0, 400), st.booleans())
@settings(max_examples=examples(30), deadline=None)
def test_a_copy_at_any_point_goes_on_as_the_log_does_and_apart_from_what_it_was_copied_of(
    kind: type[Fold], steps: list[Step], at: int, was_read: bool
) -> None:
    entries = write(steps).history.entries
    at = min(at, len(entries))
    whole, first = folded(kind, entries), folded(kind, entries[:at])
    if was_read and isinstance(first, History):
        first.totals()
    before = told(first)
    copy = first.copied()
    assert told(copy) == before
    for entry in entries[at:]:
        copy.apply(entry)
    assert told(first) == before
    for entry in entries[at:]:
        first.apply(entry)
    for fold in (whole, first, copy):
        if isinstance(fold, History):
            fold.totals()
    assert told(copy) == told(first) == told(whole)


def shown(items: Sequence[Item]) -> list[Any]:
    return [(item.kind, item.seq, item.turn_id, item.compression_id, item.content, item.measure) for item in items]


@given(PROGRAMS_WITH_RULES, st.integers(0, 400))
@settings(max_examples=examples(100), deadline=None)
def test_a_view_that_is_resumed_is_the_one_that_is_built_anew(steps: list[Step], at: int) -> None:
    entries = write(steps).history.entries
    begun = history(entries[:at])
    epoch = begun.epoch
    begun.apply(ResumeEntry(id="resumed", time=1, seq=begun.version + 1))
    assert begun.epoch == epoch + 1
    assert not begun.ide_entries
    assert shown(begun.curated()) == shown(begun.view_without(()))
    assert begun.totals() == history(begun.entries).totals()


def test_what_no_log_says_stays_behind() -> None:
    breaker, tools = Breaker(), ToolState()
    breaker.pause(1_000)
    tools.changes.under_way.add("change")
    assert breaker.is_paused(1_000, 10_000)
    assert not breaker.copied().is_paused(1_000, 10_000)
    assert tools.copied().changes.under_way == set()
