"""How much of what must be kept was kept."""

from __future__ import annotations

import msgspec
from hypothesis import given

from gemini_companion.engine.facts.extract import extract_facts
from gemini_companion.engine.facts.fact import Fact, FactSource
from gemini_companion.engine.facts.retention import MissingFact, measure_retention
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from tests.engine.facts.fact_sources import count_words, sources


def test_the_score_is_the_share_of_distinct_certain_facts_that_stand_there():
    facts = [Fact("path", "a.py", 0, 1), Fact("path", "a.py", 1, 2), Fact("command", "make", 0, 1), Fact("path", "x/y", 0, 1, certain=False)]
    kept = measure_retention(facts, "… a.py …", repaired=5)
    assert (kept.score, kept.facts, kept.kept, kept.repaired) == (0.5, 2, 1, 1)
    assert kept.missing == (MissingFact(kind="command", text="make"),)


def test_a_fact_that_had_to_be_neutralised_is_kept():
    assert measure_retention([Fact("directive", "Never write <scratchpad>.", 0, 1)], "Never write ‹scratchpad>.").score == 1


def test_nothing_to_keep_is_all_kept():
    assert measure_retention([], "").score == 1


def test_it_has_the_wires_shape():
    encoded = msgspec.json.decode(msgspec.json.encode(measure_retention([Fact("path", "a.py", 0, 1)], "")))
    assert encoded == {"score": 0.0, "facts": 1, "kept": 0, "repaired": 0, "missing": [{"kind": "path", "text": "a.py"}]}


@given(sources)
def test_a_snapshot_with_room_keeps_all_paths_commands_and_directives(items: list[FactSource]):
    facts = [fact for fact in extract_facts(items) if fact.kind in ("path", "command", "directive")]
    snapshot = extractive_snapshot(items, previous=None, budget_tokens=1_000_000, count_text=count_words)
    assert measure_retention(facts, snapshot).missing == ()
