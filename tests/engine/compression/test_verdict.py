"""Whether a compression pays for itself, and what a session's experience says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.compression.experience import MOST_POINTS, Experience
from gemini_companion.engine.compression.verdict import (
    MOST_TURNS,
    Outlook,
    expected_turns,
    is_clearly_negative,
    snapshot_tokens,
    verdict_of,
)
from gemini_companion.engine.history.content import model_text
from gemini_companion.engine.history.log import (
    CompressionEntry,
    Entry,
    RatingEntry,
    ReplyEntry,
    TurnEndEntry,
    UndoEntry,
    Usage,
)
from gemini_companion.engine.tokens.rates import ASSUMED, FREE, rates_of
from tests.support.logs import outcome_of

PRO = rates_of("gemini-2.5-pro") or ASSUMED


def outlook(**more: Any) -> Outlook:
    fields: dict[str, Any] = {
        "before": 520_000,
        "after": 160_000,
        "untouched": 10_000,
        "hidden": 364_000,
        "snapshot": 4_000,
        "expected_turns": 45.0,
        "cached_share": 0.9,
        "rates": PRO,
        "compressor": PRO,
    }
    return Outlook(**{**fields, **more})


def test_the_numbers_of_a_long_session_that_goes_on() -> None:
    verdict = verdict_of(outlook())
    # 360,000 tokens less, of which nine tenths would have cost a tenth
    assert verdict.saved_per_turn == 68_400
    # twice 366,000 read and once the first answer, twice 4,000 written at eight times the price
    assert verdict.summary_tokens == 2 * 366_000 + 4_000 + 2 * 4_000 * 8
    assert verdict.lost_cache_tokens == round(150_000 * 0.81)
    assert verdict.net_tokens == 68_400 * 45 - verdict.summary_tokens - verdict.lost_cache_tokens
    assert verdict.is_worth_it
    assert verdict.message.startswith("Worth it: it would save some 68,400 tokens a turn over about 45 more")


def test_the_same_in_a_session_that_has_only_begun_is_not_worth_it_yet() -> None:
    verdict = verdict_of(outlook(expected_turns=3.0))
    assert not verdict.is_worth_it
    assert is_clearly_negative(verdict)
    assert verdict.message.startswith("Not worth it yet")
    assert f"Net loss: {-verdict.net_tokens:,} tokens" in verdict.message


def test_without_a_cache_each_token_less_counts_in_full_and_none_is_lost() -> None:
    verdict = verdict_of(outlook(cached_share=0.0))
    assert (verdict.saved_per_turn, verdict.lost_cache_tokens) == (360_000, 0)


def test_a_cheaper_model_for_snapshots_costs_less() -> None:
    lite = rates_of("gemini-2.5-flash-lite") or ASSUMED
    assert verdict_of(outlook(compressor=lite)).summary_tokens < verdict_of(outlook()).summary_tokens / 10


def test_on_this_machine_being_shorter_is_enough() -> None:
    assert verdict_of(outlook(rates=FREE, compressor=FREE, expected_turns=1.0)).is_worth_it
    assert not verdict_of(outlook(rates=FREE, compressor=FREE, before=100, after=100)).is_worth_it


@given(
    st.builds(
        Outlook,
        before=st.integers(0, 2_000_000),
        after=st.integers(0, 2_000_000),
        untouched=st.integers(0, 100_000),
        hidden=st.integers(0, 2_000_000),
        snapshot=st.integers(0, 100_000),
        expected_turns=st.floats(0, 100),
        requests_per_turn=st.floats(0, 50),
        cached_share=st.floats(-1, 2),
        rates=st.sampled_from([PRO, FREE, ASSUMED]),
        compressor=st.sampled_from([PRO, FREE, ASSUMED]),
    )
)
def test_net_is_what_is_saved_less_what_it_costs_and_the_verdict_says_its_sign(outlook: Outlook) -> None:
    verdict = verdict_of(outlook)
    assert verdict.is_worth_it == (verdict.net_tokens > 0)
    assert verdict.summary_tokens >= 0
    assert verdict.lost_cache_tokens >= 0
    if outlook.after >= outlook.before:
        assert not verdict.is_worth_it


@given(st.integers(0, 10_000), st.floats(0, 1e6), st.integers(0, 2_000_000))
def test_expected_turns_are_the_past_ones_within_what_the_window_holds(turns: int, growth: float, room: int) -> None:
    expected = expected_turns(turns, growth, room)
    assert 1 <= expected <= MOST_TURNS
    assert expected <= max(1, turns)
    if growth > 0:
        assert expected <= max(1.0, room / growth)


def test_a_snapshot_is_expected_to_have_a_fifth_within_bounds() -> None:
    assert [snapshot_tokens(hidden) for hidden in (100, 10_000, 1_000_000)] == [250, 2_000, 4_000]


# --- experience


class Story:
    """Entries of a session, as it has them."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def answer(self, prompt: int, cached: int = 0, model: str = "gemini-2.5-pro") -> None:
        usage = Usage(prompt_tokens=prompt, cached_tokens=cached)
        self._add(ReplyEntry, turn_id="t", content=model_text("x"), model=model, usage=usage)
        self._add(TurnEndEntry, turn_id="t", outcome="completed")

    def compress(self, name: str, trigger: str = "auto") -> None:
        self._add(CompressionEntry, compression_id=name, result=outcome_of("COMPRESSED", trigger=trigger))

    def undo(self, *names: str) -> None:
        self._add(UndoEntry, undone=names, result=outcome_of("UNDONE"))

    def rate(self, name: str, rating: int) -> None:
        self._add(RatingEntry, compression_id=name, rating=rating)

    def _add(self, kind: Any, **fields: Any) -> None:
        seq = len(self.entries) + 1
        self.entries.append(kind(id=f"e{seq}", seq=seq, time=seq, **fields))

    @property
    def experience(self) -> Experience:
        return Experience(self.entries)


def test_pace_and_cache_are_read_from_answers_but_for_the_first_after_a_change() -> None:
    story = Story()
    for prompt, cached in ((1_000, 0), (3_000, 900), (5_000, 2_700)):
        story.answer(prompt, cached)
    story.compress("c1")
    story.answer(2_000)
    experience = story.experience
    assert (experience.turns, experience.growth, experience.requests_per_turn) == (4, 2_000, 1)
    assert experience.cached_share == pytest.approx(3_600 / 8_000)


def test_nothing_is_said_of_the_cache_before_two_answers_and_after_a_change_of_the_model() -> None:
    story = Story()
    story.answer(1_000)
    story.answer(2_000, 900)
    assert story.experience.cached_share is None
    story.answer(3_000, 1_900)
    assert story.experience.cached_share is not None
    story.answer(3_000, 1_900, model="gemini-2.5-flash")
    assert story.experience.cached_share is None


def test_undos_and_ratings_of_automatic_compressions_move_the_threshold_of_their_model() -> None:
    story = Story()
    story.answer(1_000)
    story.compress("c1")
    story.undo("c1")
    assert story.experience.points("gemini-2.5-pro") == pytest.approx(0.05)
    assert story.experience.points("gemini-2.5-flash") == 0
    story.compress("c2")
    story.rate("c2", 5)
    assert story.experience.points("gemini-2.5-pro") == pytest.approx(0.03)
    story.rate("c2", 1)  # a later rating replaces the earlier
    assert story.experience.points("gemini-2.5-pro") == pytest.approx(0.08)


def test_what_was_asked_for_says_nothing_of_the_threshold() -> None:
    story = Story()
    story.answer(1_000)
    story.compress("c1", trigger="manual")
    story.rate("c1", 1)
    story.undo("c1")
    story.undo("nobody")
    story.undo()
    assert story.experience.points("gemini-2.5-pro") == 0


def test_the_threshold_never_moves_further_than_a_tenth() -> None:
    story = Story()
    story.answer(1_000)
    for number in range(40):
        story.compress(f"c{number}")
        story.undo(f"c{number}")
    assert story.experience.points("gemini-2.5-pro") == MOST_POINTS
