"""What a text is estimated to cost: the lexical model, and the heuristic it falls back on."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.tokens.heuristic import HeuristicTokenCounter
from gemini_companion.engine.tokens.known_pieces import KNOWN_PIECES
from gemini_companion.engine.tokens.lexical import SAMPLED_PAST, LexicalTokenCounter, cut
from gemini_companion.engine.tokens.prices import REMEMBERED_PIECES, PriceTable, price_of
from tests.engine.tokens.measured_texts import MARKDOWN, SAMPLES, MeasuredText, noise
from tests.engine.tokens.texts_in_code import PYTHON
from tests.engine.tokens.texts_in_languages import ENGLISH, JAPANESE, RUSSIAN
from tests.support.examples import examples

COUNTER = LexicalTokenCounter()
COUNTERS = [pytest.param(COUNTER, id="lexical"), pytest.param(HeuristicTokenCounter(), id="heuristic")]
ANY_TEXT = st.text(st.characters(), max_size=300)
"""Any code points at all, lone surrogates and control characters among them."""
FAMILIAR = st.sampled_from(
    [
        *"aAbBzZ 09\n\t\r.,;:(){}[]\"'_-=+*/\\<>é",
        "日",
        "本",
        "の",
        "テ",
        "ж",
        "д",
        "한",
        "—",
        "…",
        "👍",
        "<td>",
        "</b>",
        "    ",
    ]
)
LINE = (
    st.lists(FAMILIAR.filter(lambda piece: piece not in ("\n", "\r")), min_size=1, max_size=60)
    .map("".join)
    .filter(str.strip)
)
TOLERANCE = 0.10
"""Largest relative error allowed on a text of some hundred tokens; the promise to users is 15 %."""


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.kind)
def test_every_kind_of_text_is_estimated_within_ten_per_cent_of_its_true_count(sample: MeasuredText) -> None:
    assert COUNTER.count_text(sample.text) == pytest.approx(sample.tokens, rel=TOLERANCE)


def test_over_all_kinds_of_text_together_errors_nearly_cancel() -> None:
    assert sum(COUNTER.count_text(sample.text) for sample in SAMPLES) == pytest.approx(
        sum(sample.tokens for sample in SAMPLES), rel=0.02
    )


def test_the_lexical_model_is_far_better_than_the_heuristic() -> None:
    def worst(counter: LexicalTokenCounter | HeuristicTokenCounter) -> float:
        return max(abs(counter.count_text(sample.text) / sample.tokens - 1) for sample in SAMPLES)

    assert worst(COUNTER) < worst(HeuristicTokenCounter()) / 4


@pytest.mark.parametrize("counter", COUNTERS)
@given(text=ANY_TEXT)
def test_any_string_has_a_finite_count_that_is_never_negative(
    counter: LexicalTokenCounter | HeuristicTokenCounter, text: str
) -> None:
    tokens = counter.count_text(text)
    assert math.isfinite(tokens)
    assert tokens >= 0
    assert (tokens > 0) == bool(text)


@given(ANY_TEXT)
def test_a_text_costs_the_same_whatever_was_counted_before(text: str) -> None:
    assert LexicalTokenCounter().count_text(text) == COUNTER.count_text(text) == COUNTER.count_text(text)


@given(ANY_TEXT.filter(lambda text: "<" not in text))
def test_pieces_put_together_are_the_text_again(text: str) -> None:
    assert "".join(cut(text)) == text


def test_a_tag_that_the_tokenizer_knows_is_one_token_and_any_other_is_not() -> None:
    assert COUNTER.count_text("</td>") == COUNTER.count_text("<tr></tr>") / 2 == 1
    assert COUNTER.count_text("</article>") > 2


@given(st.lists(FAMILIAR, max_size=100).map("".join), st.lists(FAMILIAR, max_size=100).map("".join))
def test_lines_cost_together_what_they_cost_apart(first: str, second: str) -> None:
    first = first.replace("\n", "") + "x\n"
    second = "y" + second
    assert COUNTER.count_text(first + second) == pytest.approx(COUNTER.count_text(first) + COUNTER.count_text(second))


@given(LINE)
def test_no_line_costs_more_tokens_than_it_has_bytes(line: str) -> None:
    assert COUNTER.count_text(line) <= len(line.encode("utf-8", "surrogatepass")) + 1


@given(LINE, st.integers(1, 6))
def test_a_text_repeated_costs_more_each_time(line: str, times: int) -> None:
    assert COUNTER.count_text((line + "\n") * (times + 1)) > COUNTER.count_text((line + "\n") * times)


@pytest.mark.parametrize(
    "text", [ENGLISH, PYTHON, JAPANESE, MARKDOWN], ids=["English", "Python", "Japanese", "Markdown"]
)
def test_a_repeated_text_grows_in_step_also_where_sampling_begins(text: str) -> None:
    once = COUNTER.count_text(text)
    past = SAMPLED_PAST // len(text) + 2
    for times in range(past - 5, past + 40, 3):
        assert COUNTER.count_text(text * times) == pytest.approx(once * times, rel=0.03)


def test_a_huge_mixed_text_is_sampled_close_to_its_full_count() -> None:
    chance = random.Random(5)
    blocks = [chance.choice([sample.text for sample in SAMPLES]) for _ in range(600)]
    huge = "\n".join(blocks)
    assert len(huge) > 8 * SAMPLED_PAST
    in_full = sum(COUNTER.count_text(block + "\n") for block in blocks)
    assert COUNTER.count_text(huge) == pytest.approx(in_full, rel=0.05)


def test_the_end_of_a_huge_text_weighs_as_much_as_its_beginning() -> None:
    half = SAMPLED_PAST * 3
    words, digits = ("word and " * half)[:half], ("0123456789" * half)[:half]
    assert COUNTER.count_text(words + digits) == pytest.approx(COUNTER.count_text(digits + words), rel=0.02)


def test_a_huge_text_costs_no_more_work_than_the_longest_that_is_read_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def spy(text: str) -> list[str]:
        read.append(len(text))
        return cut(text)

    monkeypatch.setattr("gemini_companion.engine.tokens.lexical.cut", spy)
    COUNTER.count_text("some words " * 1_000_000)
    assert sum(read) == SAMPLED_PAST


@settings(max_examples=examples(20))
@given(st.integers(1, 200))
def test_white_space_costs_exactly_what_the_tokenizer_makes_of_it(length: int) -> None:
    runs = 1 if length < 32 else length // 16
    assert COUNTER.count_text("a" + " " * length + "\n") - COUNTER.count_text("a\n") == runs
    assert COUNTER.count_text("\t" * length) == runs
    assert COUNTER.count_text("\n" * length) == math.ceil(length / 31)


def test_digits_cost_one_token_each() -> None:
    assert COUNTER.count_text("0123456789") == 10
    assert COUNTER.count_text("x 42") == COUNTER.count_text("x") + 3


def test_a_word_costs_at_least_one_token_and_at_most_one_a_letter() -> None:
    for word in ["a", "the", "Xq", "QZXW", "zqxjkvbp", "ABCdefGHI", "internationalization", "q" * 200]:
        assert 1 <= price_of(word) <= len(word)
        assert 1 <= price_of(" " + word) <= len(word)


def test_strange_words_cost_more_than_common_ones_of_the_same_length() -> None:
    assert price_of(" zqxjkvbw") > price_of(" language") + 2


def test_the_commonest_pieces_have_the_prices_that_are_known_of_them() -> None:
    known = {piece: tokens for tokens, pieces in KNOWN_PIECES.items() for piece in pieces}
    assert {piece: price_of(piece) for piece in known} == known


def test_prices_remembered_stay_within_bounds() -> None:
    prices = PriceTable()
    total = 0.0
    for index in range(REMEMBERED_PIECES + 10):
        total += prices[f" {index:x}"[:7].translate(str.maketrans("0123456789", "ghijklmnop"))]
    assert len(prices) <= REMEMBERED_PIECES
    assert prices["x" * 500] == price_of("x" * 500)
    assert "x" * 500 not in prices


def test_binary_noise_and_very_long_words_are_counted_too() -> None:
    assert COUNTER.count_text(noise(5000).decode("latin-1")) > 3000
    assert COUNTER.count_text("A" * 60_000) <= 60_000


@pytest.mark.parametrize("before", ["", "\u2014", "\u6f22"])
def test_every_character_can_be_counted_behind_any_other(before: str) -> None:
    counter = LexicalTokenCounter()
    counts = [counter.count_text(before + chr(code)) for code in range(0x11000)]
    assert all(0 < count < 20 for count in counts)


def test_the_heuristic_is_a_quarter_for_ascii_and_one_point_three_for_the_rest() -> None:
    counter = HeuristicTokenCounter()
    assert counter.count_text("") == 0
    assert counter.count_text("abcd") == 1
    assert counter.count_text("ab\u3042\ud800") == pytest.approx(0.5 + 2.6)
    assert counter.count_text(RUSSIAN) > 2 * COUNTER.count_text(RUSSIAN)
