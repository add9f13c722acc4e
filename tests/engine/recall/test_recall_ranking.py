"""How what words find becomes an order of turns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.recall.passages import Remembered, Speaker
from gemini_companion.engine.recall.query import NamedDate, RecallQuery
from gemini_companion.engine.recall.ranking import (
    Known,
    Posting,
    apart,
    fused,
    once,
    ordered,
    place_of,
    score_spots,
    spot_of,
    weigh,
)

PLAIN = RecallQuery(words=("x",))


def known(spot: int, *, speaker: Speaker = "model", time: int = 0, question: bool = False, when: bool = False) -> Known:
    return Known(time, Remembered(speaker, question, when), f"e{spot}")


def test_a_word_gives_something_to_the_turns_beside_it_most_to_the_next():
    scores = score_spots([[Posting(spot_of(1, 10), 4.0, False)]], [])
    order = [place_of(spot) for spot in sorted(scores, key=lambda spot: -scores[spot])]
    assert order == [10, 11, 12, 9, 13, 8]


def test_nothing_is_spread_from_or_to_a_tools_results_nor_into_another_session():
    tool, turn = Posting(spot_of(1, 5), 3.0, True), Posting(spot_of(1, 4), 3.0, False)
    alone = score_spots([[tool]], [])
    assert set(alone) == {tool.spot}
    both = score_spots([[tool, turn]], [])
    assert both[tool.spot] == alone[tool.spot]
    assert spot_of(2, 0) not in score_spots([[Posting(spot_of(2, 1), 3.0, False)]], [])


def test_a_word_that_is_said_again_and_again_gives_little_more_than_once():
    spots = [spot_of(1, place) for place in range(10, 20)]
    scores = score_spots([[Posting(spot, 4.0, False) for spot in spots]], [])
    once_said = score_spots([[Posting(spot_of(1, 10), 4.0, False)]], [])
    assert max(scores.values()) < 1.5 * max(once_said.values())


def test_a_phrase_adds_to_its_turn_alone():
    spot = spot_of(1, 5)
    without, with_phrase = (
        score_spots([[Posting(spot, 2.0, False)]], []),
        score_spots([[Posting(spot, 2.0, False)]], [[Posting(spot, 5.0, False)]]),
    )
    assert with_phrase[spot] == pytest.approx(without[spot] + 1.5)
    assert with_phrase[spot + 1] == without[spot + 1]


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        (PLAIN, {}, {"question": True}),
        (RecallQuery(words=("x",), asks_when=True), {"when": True}, {}),
        (RecallQuery(words=("x",), said_by="user"), {"speaker": "user"}, {"speaker": "model"}),
        (RecallQuery(words=("x",), date=NamedDate(year=1970)), {"time": 1}, {"time": 2**41}),
    ],
    ids=["questions answer less", "when", "who", "date"],
)
def test_what_is_known_of_a_turn_weighs(query: RecallQuery, better: dict[str, object], worse: dict[str, object]):
    scores = {1: 1.0, 2: 1.0}
    facts = {1: known(1, **better), 2: known(2, **worse)}  # pyright: ignore[reportArgumentType]
    weighed = weigh(query, scores, facts, {1, 2})
    assert weighed[1] > weighed[2]


def test_a_tools_result_that_no_word_found_is_left_out():
    facts = {1: known(1, speaker="tool"), 2: known(2, speaker="tool")}
    assert set(weigh(PLAIN, {1: 1.0, 2: 1.0}, facts, {2})) == {2}


def test_of_equal_turns_the_newest_comes_first():
    facts = {1: known(1, time=5), 2: known(2, time=9), 3: known(3, time=9)}
    assert ordered({1: 1.0, 2: 1.0, 3: 1.0}, facts) == [3, 2, 1]


def test_the_neighbour_of_a_better_turn_is_not_shown_again():
    assert apart([5, 4, 6, 7, 9, 8], 10) == [5, 7, 9]
    assert apart([5, 4, 6, 7, 9, 8], 2) == [5, 7]


def test_what_a_fork_repeats_is_found_once():
    facts = {1: known(1), 2: known(1), 3: known(3)}
    assert list(once([1, 2, 3], facts)) == [1, 3]


def test_meaning_moves_what_words_found_but_words_come_first():
    scores = fused([1, 2, 3], [3, 9])
    assert sorted(scores, key=lambda spot: -scores[spot]) == [3, 1, 2, 9]


@given(
    st.lists(
        st.lists(
            st.builds(
                Posting,
                st.builds(spot_of, st.integers(1, 3), st.integers(1, 9)),
                st.floats(0, 50, allow_nan=False),
                st.booleans(),
            ),
            max_size=20,
        ),
        max_size=4,
    )
)
def test_scores_are_never_negative_and_stay_within_their_sessions(found: list[list[Posting]]):
    sessions = {posting.spot >> 24 for postings in found for posting in postings}
    scores = score_spots(found, [])
    assert all(score >= 0 for score in scores.values())
    assert {spot >> 24 for spot in scores} <= sessions
    assert all(place_of(spot) > 0 for spot in scores)
