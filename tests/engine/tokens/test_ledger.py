"""The one place that token numbers come from: what it counts, what it learns, what it promises."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.totals import Totals
from gemini_companion.engine.tokens.ledger import (
    FACTOR_RANGE,
    LEARNING_TOKENS,
    UNKNOWN_TOKENS,
    EstimatedParts,
    RequestParts,
    TokenLedger,
    agree,
    totals_of,
)
from tests.support.examples import examples
from tests.support.logs import QuarterCounter, call, item_of, model, result, user

MODEL = "gemini-2.5-pro"


def ledger() -> TokenLedger:
    return TokenLedger(QuarterCounter())


def parts(text: int, surroundings: int = 1_000) -> RequestParts:
    return RequestParts(system_instruction=surroundings, messages=text)


def taught(*observations: tuple[int, int], surroundings: int = 1_000) -> TokenLedger:
    book = ledger()
    for text, measured in observations:
        book.observe(MODEL, 1, parts(text, surroundings), measured)
    return book


# --- counting


def test_a_contents_tokens_are_told_apart_into_tool_outputs_and_the_rest() -> None:
    mixed = ledger().measure(user({"text": "x" * 400}, result(output="y" * 400)))
    alone = ledger().measure(user(result(output="y" * 400)))
    assert mixed.tool_tokens == alone.tool_tokens == alone.tokens
    assert mixed.tokens - mixed.tool_tokens == 100
    assert ledger().measure(model(call(text="x" * 400))).tool_tokens == 0
    assert ledger().measure(Content(role="user")) == (0, 0, 0)


def test_totals_of_contents_and_of_items_are_sums() -> None:
    contents = [user_text("x" * 40), model({"text": "y" * 80}), user(result(output="z" * 400))]
    totals = ledger().totals(contents)
    assert totals.messages == 30
    assert totals.tool_outputs == ledger().measure(contents[2]).tokens
    assert totals.all == sum(ledger().measure(content).tokens for content in contents)
    assert totals_of([item_of(contents[0], 1, "ide"), item_of(contents[1], 2, "snapshot")]) == Totals(
        ide_context=10, snapshot=20
    )


def test_a_request_is_surroundings_and_text() -> None:
    request = RequestParts(
        system_instruction=1,
        tools=2,
        environment=3,
        memory=4,
        ide_context=5,
        snapshot=6,
        constraints=9,
        messages=7,
        tool_outputs=8,
    )
    assert (request.surroundings, request.text, request.total) == (10, 35, 45)
    assert request.with_totals(Totals(1, 1, 1, 1, 1)).total == 15


# --- calibration


def test_without_a_count_the_estimate_is_the_sum() -> None:
    assert ledger().estimate(MODEL, parts(500)) == 1_500
    assert ledger().estimate_text(MODEL, 70) == 70


def test_a_short_request_teaches_the_constant_alone() -> None:
    book = taught((LEARNING_TOKENS - 1, 6_000))
    assert book.estimate(MODEL, parts(LEARNING_TOKENS - 1)) == 6_000
    assert book.estimate(MODEL, parts(10_000)) == 6_000 + 10_000 - (LEARNING_TOKENS - 1)
    assert book.estimate_text(MODEL, 1_000) == 1_000


def test_a_long_one_teaches_the_factor_too() -> None:
    book = taught((10, 1_010), (10_000, 12_000))
    assert book.estimate_text(MODEL, 1_000) == pytest.approx(1_100, abs=2)
    assert book.estimate(MODEL, parts(20_000)) == pytest.approx(23_000, abs=20)


def test_two_counts_far_apart_tell_constant_and_factor_apart() -> None:
    book = taught((10_000, 1_000 + 5_000 + 11_000), (30_000, 1_000 + 5_000 + 33_000))
    assert book.estimate(MODEL, parts(3_000)) == pytest.approx(1_000 + 5_000 + 3_300, abs=5)


@pytest.mark.parametrize("measured", [1, 50_000_000])
def test_the_factor_stays_within_its_bounds_whatever_is_counted(measured: int) -> None:
    book = taught((100_000, measured))
    low, high = FACTOR_RANGE
    assert 1_000 * low <= book.estimate_text(MODEL, 1_000) <= 1_000 * high
    assert (low, high) == (0.8, 1.25)


def test_a_constant_is_never_less_than_nothing() -> None:
    book = taught((100, 1), surroundings=500)
    assert book.estimate(MODEL, parts(0, 500)) == 0
    assert book.estimate(MODEL, parts(100, 500)) == 100


def test_what_a_constant_of_less_than_nothing_would_have_to_explain_goes_to_the_factor() -> None:
    book = taught((10_000, 9_000), (30_000, 33_000))
    assert book.estimate(MODEL, parts(30_000)) == 33_000
    assert book.estimate_text(MODEL, 1_000) == 1_100


def test_counts_of_nothing_teach_nothing() -> None:
    book = taught((5_000, 0), (5_000, -3))
    assert book.estimate(MODEL, parts(5_000)) == 6_000
    assert book.read(MODEL, 1, parts(5_000)).source == "estimate"


def test_each_model_is_calibrated_by_itself() -> None:
    book = taught((10_000, 12_000))
    assert book.estimate("another", parts(10_000)) == 11_000


@given(
    st.lists(st.tuples(st.integers(0, 200_000), st.integers(0, 400_000)), max_size=8),
    st.integers(0, 20_000),
    st.integers(0, 300_000),
)
@settings(max_examples=examples(100), deadline=None)
def test_no_counts_make_an_estimate_absurd(observations: list[tuple[int, int]], surroundings: int, text: int) -> None:
    book = taught(*observations, surroundings=surroundings)
    estimate = book.estimate(MODEL, parts(text, surroundings))
    assert estimate >= round(text * FACTOR_RANGE[0])
    assert book.estimate(MODEL, parts(text + 1_000, surroundings)) >= estimate


# --- counts that cannot be right


@pytest.mark.parametrize("measured", [0, -3, 1, 2_000, 60_000, 10**7, 2**53])
def test_a_count_far_from_the_estimate_teaches_nothing(measured: int) -> None:
    book = taught((15_000, measured), (15_000, measured))
    assert book.read(MODEL, 1, parts(15_000)) == (16_000, "estimate")


def test_a_count_beyond_the_window_teaches_nothing() -> None:
    book = ledger()
    assert not book.observe(MODEL, 1, parts(90_000), 110_000, limit=100_000)
    assert book.observe(MODEL, 1, parts(90_000), 95_000, limit=100_000)
    assert book.read(MODEL, 1, parts(90_000)) == (95_000, "api")


def test_an_absurd_count_takes_nothing_from_what_was_learned_before() -> None:
    book = taught((10_000, 12_000), (10_500, 10**9))
    assert book.read(MODEL, 1, parts(10_500)).tokens == pytest.approx(12_500, rel=0.02)
    assert book.read(MODEL, 1, parts(10_500)).source == "api"


@given(
    st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(-(10**20), 10**20) | st.integers(0, 2_000_000))),
    st.integers(0, 1_000_000),
    st.integers(0, 3),
)
@settings(deadline=None)
def test_no_sequence_of_counts_moves_a_reading_far_from_the_estimate(
    observations: list[tuple[int, int]], text: int, epoch: int
) -> None:
    book = taught(*observations)
    now = book.read(MODEL, epoch, parts(text)).tokens
    largest = max((known for known, _ in observations), default=0)
    assert now <= 2 * (text + largest) + 1_000 + UNKNOWN_TOKENS + 2_000


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_saving_that_the_estimate_sees_is_not_denied_by_a_count(old: int, new: int, estimated: int) -> None:
    if agree(old - new, estimated, 10 * 1_000) and estimated > 2_100:
        assert new < old


# --- reading


def test_a_reading_is_the_last_count_plus_an_estimate_of_what_came_since() -> None:
    book = taught((1_500, 3_100))
    assert book.read(MODEL, 1, parts(1_500)) == (3_100, "api")
    assert book.read(MODEL, 1, parts(1_700)) == (3_300, "api")
    assert book.read(MODEL, 1, parts(0)) == (1_600, "api")


def test_after_a_change_of_epoch_or_of_model_a_reading_is_an_estimate() -> None:
    book = taught((1_500, 3_100))
    assert book.read(MODEL, 2, parts(1_500)) == (3_100, "estimate")
    assert book.read("another", 1, parts(1_500)) == (2_500, "estimate")


@given(st.lists(st.integers(0, 10**12), min_size=9, max_size=9), st.integers(-5, 10**12))
@settings(max_examples=examples(100), deadline=None)
def test_the_parts_always_sum_to_the_total(values: list[int], total: int) -> None:
    names = RequestParts.__struct_fields__
    estimated = RequestParts(**dict(zip(names, values, strict=True)))
    scaled = ledger().scaled(estimated, total)
    assert scaled.total == max(0, total)
    if sum(values):
        for name, value in zip(names, values, strict=True):
            share = getattr(scaled, name)
            assert abs(share * sum(values) - value * max(0, total)) < sum(values)


# --- on real conversations


def errors(conversation: dict[str, Any], truth: Callable[[RequestParts], int]) -> list[tuple[float, float]]:
    """For each request of a conversation the error of the estimate alone, and after calibration by the requests before
    it.
    """
    book = ledger()
    instruction = round(book.count_text(conversation.get("systemInstruction") or ""))
    found: list[tuple[float, float]] = []
    text = 0
    for content in msgspec.convert(conversation["history"], list[Content]):
        text += book.measure(content).tokens
        if content.role == "user":
            request = parts(text, instruction)
            measured = truth(request)
            found.append(
                (abs(request.total - measured) / measured, abs(book.estimate(MODEL, request) - measured) / measured)
            )
            book.observe(MODEL, 1, request, measured)
    return found


@pytest.mark.parametrize(
    ("factor", "constant"), [*itertools.product([0.7, 0.85, 0.95, 1.0, 1.1, 1.25, 1.4], [0, 500, 5_000])]
)
def test_after_calibration_no_conversation_of_the_corpus_is_off_by_a_point_more_than_before(
    corpus: dict[str, dict[str, Any]], factor: float, constant: int
) -> None:
    for name, conversation in corpus.items():
        found = errors(
            conversation, lambda request: max(1, round(request.text * factor) + request.surroundings + constant)
        )
        before, after = (sum(column) / len(found) for column in zip(*found, strict=True))
        assert after <= before + 0.01, name
        if FACTOR_RANGE[0] <= factor <= FACTOR_RANGE[1]:  # past these a factor and a constant can cancel out by chance
            assert found[-1][1] <= found[-1][0] + 0.01, name


# --- media, which are estimated by flat rates


def with_media(text: int, media: int) -> EstimatedParts:
    return EstimatedParts(system_instruction=1_000, messages=text + media, media=media)


def test_a_count_far_below_the_flat_rates_of_media_is_believed() -> None:
    book = ledger()
    assert book.observe(MODEL, 1, with_media(4_000, 28_800), 5_300)
    assert book.read(MODEL, 1, with_media(4_000, 28_800)) == (5_300, "api")
    assert book.read(MODEL, 1, with_media(4_100, 28_800)).tokens == pytest.approx(5_400, abs=5)
    assert book.estimate(MODEL, with_media(4_000, 28_800)) == pytest.approx(5_300, rel=0.02)


def test_what_media_had_too_much_is_not_put_down_to_words() -> None:
    book = ledger()
    book.observe(MODEL, 1, with_media(4_000, 28_800), 5_300)
    assert book.estimate_text(MODEL, 10_000) == 10_000
    assert book.estimate(MODEL, parts(50_000)) == 51_000


def test_a_count_below_what_the_words_alone_have_is_not_believed() -> None:
    book = ledger()
    assert not book.observe(MODEL, 1, with_media(20_000, 28_800), 5_300)
    assert not book.observe(MODEL, 1, with_media(20_000, 28_800), 5_300)


def test_a_count_far_above_the_rates_of_media_is_believed_when_a_second_agrees() -> None:
    book = ledger()
    assert not book.observe(MODEL, 1, with_media(4_000, 17_700), 300_000, limit=1_000_000)
    assert book.read(MODEL, 1, with_media(4_000, 17_700)) == (22_700, "estimate")
    assert not book.observe(MODEL, 1, with_media(4_100, 17_700), 90_000, limit=1_000_000)
    assert book.observe(MODEL, 1, with_media(4_200, 17_700), 90_100, limit=1_000_000)
    assert book.read(MODEL, 1, with_media(4_200, 17_700)) == (90_100, "api")


def test_few_media_leave_the_learning_to_the_words() -> None:
    book = ledger()
    book.observe(MODEL, 1, with_media(90_000, 3_000), 104_000)
    assert book.estimate_text(MODEL, 1_000) > 1_050


def test_a_compression_that_hides_media_is_counted_and_believed() -> None:
    assert ledger().believes_both((60_000, 6_000), (8_500, 5_800), (50_000, 0))
    assert not ledger().believes_both((60_000, 6_000), (5_800, 8_500), (50_000, 0))


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(-(10**9), 10**9))
def test_no_count_of_media_makes_an_estimate_negative_or_boundless(text: int, media: int, measured: int) -> None:
    book = ledger()
    for _ in range(2):
        book.observe(MODEL, 1, with_media(text, media), measured)
    low, high = FACTOR_RANGE
    estimate = book.estimate(MODEL, with_media(text, media))
    assert low * text - 1 <= estimate <= high * text + 20 * media + 1_000 + UNKNOWN_TOKENS
