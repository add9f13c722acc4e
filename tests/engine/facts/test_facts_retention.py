"""How much of what must be kept was kept, whoever wrote the snapshot."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.retention import MOST_MISSING, NEWEST, FactCache, measure_retention, wanted_facts
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.engine.history.retention import MissingFact, Retention
from tests.engine.facts.fact_sources import call, chat, count_words, result, sources, sources_of, texts


def test_the_score_is_the_share_of_distinct_facts_that_stand_there():
    items = chat("Never push to main. The code is in src/a.py.", "I read src/a.py.")
    found = measure_retention(items, "… src/a.py …", repaired=5)
    assert (found.score, found.facts, found.kept, found.repaired) == (0.5, 2, 1, 1)
    assert found.missing == (MissingFact(kind="directive", text="Never push to main."),)


@pytest.mark.parametrize(
    "snapshot", ["- never push to main", "* **Never push** to `main`!", "Rules: Never\n  push to main."]
)
def test_capitals_blanks_and_emphasis_make_no_difference(snapshot: str):
    assert measure_retention(chat("Never push to main."), snapshot).score == 1


def test_a_fact_that_had_to_be_neutralised_is_kept():
    assert measure_retention(chat("Never write <scratchpad>."), "Never write ‹scratchpad>.").score == 1


def test_what_stays_word_for_word_beside_the_snapshot_is_kept():
    items = chat("Never push to main.", "Fine.")
    assert measure_retention(items, "").score == 0
    assert measure_retention(items, "", kept=["A pin: never push to main."]).score == 1


def test_a_number_within_a_longer_one_is_not_kept():
    items = chat("The port is 808.")
    assert measure_retention(items, "port is 8080").score == 0
    assert measure_retention(items, "port is 808, as said").score == 1


def test_of_a_long_command_and_of_an_error_the_first_line_is_enough():
    items = sources_of([call("cat > a.txt <<E\nx\nE"), result("KeyError: 'x'\n  more")])
    assert measure_retention(items, "$ cat > a.txt <<E … (+2 lines)\n→ failed: KeyError: 'x'").missing == ()


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ("Verwende niemals globale Variablen.", "Verwende nie Tabs."),
        ("本番のDBには絶対に触らないでください。", "本番のDBには注意してください。"),
        ("禁止直接提交到主分支。", "可以直接提交。"),
    ],
)
def test_rules_of_other_languages_are_facts_too(rule: str, missing: str):
    assert measure_retention(chat(rule), rule).score == 1
    assert measure_retention(chat(rule), missing).missing == (MissingFact(kind="directive", text=rule),)


def test_what_an_output_merely_lists_does_not_count_until_somebody_names_it():
    listing = [call("ls"), result("src/a.py\nsrc/b.py")]
    kinds = {(fact.kind, fact.text) for fact in wanted_facts(sources_of([*listing, model_text("Look at src/b.py.")]))}
    assert ("path", "src/b.py") in kinds
    assert ("path", "src/a.py") not in kinds


def test_an_old_command_is_history_and_an_old_rule_is_not():
    items = chat("Never use sudo.", "Run `npm test -- -w`.", *("ok", "ok") * NEWEST)
    assert [fact.kind for fact in wanted_facts(items)] == ["directive"]


def test_the_most_worthy_are_named_first_and_not_all_of_them():
    items = chat("See " + ", ".join(f"src/m{number}.py" for number in range(90)) + ".", "ok", "Never push.")
    found = measure_retention(items, "")
    assert (found.facts, len(found.missing), found.missing[0].text) == (91, MOST_MISSING, "Never push.")


def test_nothing_to_keep_is_all_kept():
    assert measure_retention([], "").score == 1


def test_it_has_the_wires_shape_and_an_older_exports_object_is_read():
    encoded = msgspec.json.decode(msgspec.json.encode(measure_retention(chat("See a.py."), "")))
    assert encoded == {
        "score": 0.0,
        "facts": 1,
        "kept": 0,
        "repaired": 0,
        "missing": [{"kind": "path", "text": "a.py"}],
        "appended": 0,
        "unsupported": [],
    }
    assert msgspec.json.decode(b'{"score": 0.5, "lost": {"n": [1]}}', type=Retention) == Retention(score=0.5)
    assert "retention" in CompressionResult.__struct_fields__


def test_a_cache_saves_looking_twice_and_changes_nothing():
    items = chat("Never push to main.", "I read src/a.py.")
    cache = FactCache()
    first = measure_retention(items, "x", cache=cache)
    assert cache.facts_of(items[0]) is cache.facts_of(items[0])
    assert measure_retention(items, "x", cache=cache) == first == measure_retention(items, "x")


def test_work_ends_when_the_poll_says_so():
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        measure_retention(chat("Hello."), "", poll=stop)


@given(sources, texts, st.lists(texts, max_size=2))
def test_it_is_total_and_counts_right(items: list[FactSource], snapshot: str, kept: list[str]):
    found = measure_retention(items, snapshot, kept)
    assert 0 <= found.score <= 1
    assert 0 <= found.kept <= found.facts
    assert len(found.missing) == min(MOST_MISSING, found.facts - found.kept)
    assert measure_retention(items, snapshot, [*kept, snapshot]) == found


@given(sources)
def test_the_contents_themselves_keep_everything_that_was_said(items: list[FactSource]):
    said = [part["text"] for item in items for part in item.content.parts if isinstance(part.get("text"), str)]
    lost = measure_retention(items, "", said).missing
    spoken = [(fact.kind, fact.text) for item in items for fact in FactCache().facts_of(item)]
    assert all(any(kind == fact.kind and fact.text in text for kind, text in spoken) for fact in lost)
    assert not any(fact.kind in ("directive", "decision", "task") for fact in lost)


@given(sources)
def test_a_snapshot_with_room_keeps_all_rules_and_recent_commands(items: list[FactSource]):
    snapshot = extractive_snapshot(items, previous=None, budget_tokens=1_000_000, count_text=count_words)
    lost = measure_retention(items, snapshot).missing
    assert [fact for fact in lost if fact.kind in ("directive", "command")] == []


def test_user_and_model_alike_are_heard():
    items = [
        *sources_of([user_text("We decided to use Redis 7.2.1.")]),
        FactSource(1, model_text("The id is ABC12."), 2),
    ]
    assert {fact.text for fact in wanted_facts(items)} >= {"We decided to use Redis 7.2.1.", "7.2.1", "ABC12"} or {
        fact.kind for fact in wanted_facts(items)
    } >= {"decision", "number"}
