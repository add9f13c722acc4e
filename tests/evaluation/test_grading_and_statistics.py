"""The measure of the evaluation itself: numbers that a person can check."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.grading import fact_stands, plain, rule_stands, stands
from gemini_companion.evaluation.measuring import FactCache, Measure, Share, net_tokens, together
from gemini_companion.evaluation.probes import Fact, Planted, Rule
from gemini_companion.evaluation.script import Script
from gemini_companion.evaluation.statistics import Sample, estimate
from gemini_companion.evaluation.subject import Outcome, Request

RULE = Rule("Never push to the branch release-amber-1234.", "hard")
FACT = Fact("artifact", "The code is in src/amber/a.py and b_1().", ("src/amber/a.py", "b_1"))


@pytest.mark.parametrize(
    ("needle", "haystack", "expected"),
    [
        ("80", "port 8080", False),
        ("80", "port 80.", True),
        ("80", "8080 and 80", True),
        ("a.py", "src/a.py", True),
        ("", "anything", False),
        ("b_1", "b_1()", True),
        ("b_1", "ab_1", False),
    ],
)
def test_a_text_stands_there_only_as_whole_words(needle: str, haystack: str, expected: bool) -> None:
    assert stands(needle, haystack) is expected


def test_capitals_blanks_emphasis_and_the_full_stop_do_not_matter_to_a_rule() -> None:
    assert rule_stands(RULE, plain("- **never**  push to the\nbranch `release-amber-1234`"))
    assert not rule_stands(RULE, plain("Push to the branch release-amber-1234."))
    assert not rule_stands(RULE, plain("Never push to the branch release-amber-12345."))


def test_a_planted_fact_is_kept_only_with_all_of_its_keys() -> None:
    assert fact_stands(FACT, plain("SRC/amber/A.py: b_1 added"))
    assert not fact_stands(FACT, plain("src/amber/a.py changed"))


def test_shares_count_rules_and_facts_of_what_is_hidden() -> None:
    planted = Planted((RULE, Rule("Always be kind to heron-9.", "soft")), (FACT,), ())
    measure = Measure(Script(planted, ()), TokenLedger(), FactCache())
    measure.said = [user_text("Look at src/left/out.py and src/kept/here.py."), model_text("I see.")]
    request = Request(RULE.text, (user_text("Of it: src/kept/here.py, then src/amber/a.py with b_1()."),))
    shares = measure.shares(request, 1)
    assert (shares["rules.hard"], shares["rules.soft"]) == (Share(1, 1), Share(0, 1))
    assert shares["probes.artifact"] == Share(1, 1)
    assert shares["facts.path"] == Share(1, 2)


def test_nothing_is_hidden_where_everything_still_stands() -> None:
    measure = Measure(Script(Planted((), (), ()), ()), TokenLedger(), FactCache())
    said: list[Content] = [user_text("Look at src/left/out.py."), model_text("I see.")]
    measure.said = said
    shares = measure.shares(Request("", tuple(said)), 1)
    assert [name for name in shares if name.startswith("facts.")] == []


def test_shares_of_nothing_have_no_value() -> None:
    assert Share(0, 0).value is None
    assert together({"a": Share(1, 2), "b": Share(1, 6)}, ["a", "b", "c"]) == Share(2, 8)


def test_net_tokens_are_what_a_pass_saves_minus_what_it_costs() -> None:
    done = Outcome(status="COMPRESSED")
    # 10 turns of 1,000 cached tokens cost 2,500; afterwards 200 once in full and nine times cached: 650; 100 + 8 * 10
    assert net_tokens(1_000, 200, tokens_in=100, tokens_out=10, turns=10, outcome=done) == 2_500 - 650 - 180
    refused = Outcome(status="COMPRESSION_FAILED_EMPTY_SUMMARY")
    assert net_tokens(1_000, 1_000, tokens_in=100, tokens_out=10, turns=10, outcome=refused) == -180


def test_an_estimate_has_the_mean_an_interval_and_the_spread_of_seeds() -> None:
    samples = [Sample(f"c{number}", seed, number / 10) for number in range(10) for seed in (1, 2)]
    found = estimate([*samples, Sample("c9", 3, 1.0)])
    assert found is not None
    assert found.mean == pytest.approx((2 * 4.5 + 1.0) / 21, abs=1e-6)
    assert (found.worst_seed, found.best_seed) == (0.45, 1.0)
    assert (found.conversations, found.cells) == (10, 21)
    assert found.low < found.mean < found.high


def test_an_interval_of_equal_numbers_is_a_point_and_of_nothing_there_is_none() -> None:
    found = estimate([Sample("a", 1, 0.5), Sample("b", 1, 0.5)])
    assert found is not None
    assert (found.low, found.high) == (0.5, 0.5)
    assert estimate([]) is None


def test_cells_of_one_conversation_are_no_evidence_of_their_own() -> None:
    few = estimate([Sample("a", 1, 0.0), Sample("b", 1, 1.0)])
    many = estimate([Sample(name, seed, value) for name, value in (("a", 0.0), ("b", 1.0)) for seed in range(50)])
    assert few is not None
    assert many is not None
    assert (few.low, few.high) == (many.low, many.high) == (0.0, 1.0)
