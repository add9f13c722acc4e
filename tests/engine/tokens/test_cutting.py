"""Where a text is cut into pieces, and that counters share what pieces cost without a trace of it in any count."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakValueDictionary, ref

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gemini_companion.engine.tokens import prices
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.engine.tokens.lexical import SAMPLED_PAST, LexicalTokenCounter, cut
from gemini_companion.engine.tokens.prices import CJK_CLASSES, LATIN, SCRIPTS, price_of, shared_prices
from tests.engine.tokens.measured_texts import SAMPLES, MeasuredText
from tests.support.examples import examples

PUNCTUATION = r"!-/:-@\[-`{-~"
PLAIN = re.compile(
    rf" ?(?:[{LATIN}]+|[{SCRIPTS}]+|[{PUNCTUATION}]+|[0-9]{{1,3}})|[{CJK_CLASSES[0]}]+|[{CJK_CLASSES[1]}]+"
    rf"|[{CJK_CLASSES[2]}]+|\n+(?: {{2,}})?| +|\t+|[^\x00-\x7f{LATIN}{SCRIPTS}{''.join(CJK_CLASSES)}]+|.",
    re.DOTALL,
)
"""What `cut` says that a piece is, spelt as it is said."""

PLAIN_TAG = re.compile(
    r"</?(?:table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|s|sub|sup|code)>"
)

SPITEFUL = st.lists(
    st.sampled_from(
        [
            *" \n\t\r\x00\x0b\x0c\x1c\x1f\x7f\x85\xa0",
            *("  ", "   ", "\n\n", "\n  ", "\n ", " \n", "\r\n", " " * 33, "\n" * 32),
            *"aZé\u00d7\u024fstraße0123456789_-.,:;(){}[]<>/\"'`~!",
            *("<b>", "</b>", "<td>", "</td", "<h1>", "<h7>", "<", "b>", "<code>"),
            *"漢字々ひらカー゛한ж\u0301\u0e01\u200b\u200d\u2003\u2028\u202f\u3000\ufeff…—👍\U0001f1e9",
            *("\ud83d", "\udc4d", "\ud800", "\udfff"),
        ]
    ),
    max_size=60,
).map("".join)
"""Every kind of character that begins, ends or joins a piece: spaces that are none to the tokenizer, tags and halves of
tags, letters that combine, lone surrogates.
"""


def plainly(text: str) -> list[str]:
    return PLAIN.findall(PLAIN_TAG.sub("\x7f", text))


@settings(max_examples=examples(3_000))
@given(SPITEFUL)
@example(" ")
@example("a  b")
@example("\n b\n  b\n\n   \n")
@example("a <b> b</b>  <b")
@example(" 1234 5")
@example("\ud83d \udc4d")
def test_pieces_are_what_is_said_of_them(text: str) -> None:
    assert cut(text) == plainly(text)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.kind)
def test_so_are_those_of_every_kind_of_text(sample: MeasuredText) -> None:
    assert cut(sample.text) == plainly(sample.text)


@pytest.mark.parametrize("before", ["", " ", "\n", "\u6f22"])
def test_every_character_stands_in_the_piece_that_is_said(before: str) -> None:
    text = "".join(f"{before}{chr(code)}a{chr(code)} {chr(code)}{chr(code)}" for code in range(0x11000))
    assert cut(text) == plainly(text)


@settings(max_examples=examples(500))
@given(st.lists(SPITEFUL, max_size=4), st.integers(1, 5))
def test_a_text_costs_the_sum_of_its_pieces_however_little_is_remembered(texts: list[str], remembered: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prices, "REMEMBERED_PIECES", remembered)
        patch.setattr(prices, "SHARED", WeakValueDictionary())
        counter = LexicalTokenCounter()
        for text in (*texts, *texts):
            assert counter.count_text(text) == sum(map(price_of, plainly(text)), 0.0)


def test_of_a_text_that_is_sampled_each_sample_costs_the_sum_of_its_pieces() -> None:
    text = "".join(sample.text for sample in SAMPLES) * 8
    size = SAMPLED_PAST // 64
    starts = [(len(text) - size) * window // 63 for window in range(64)]
    samples = sum(sum(map(price_of, plainly(text[start : start + size])), 0.0) for start in starts)
    assert len(text) > SAMPLED_PAST
    assert LexicalTokenCounter().count_text(text) == samples * (len(text) / SAMPLED_PAST)


# --- prices are shared


@pytest.fixture
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has counted nothing yet: counters of other tests hold other prices."""
    monkeypatch.setattr(prices, "SHARED", WeakValueDictionary())


@pytest.mark.usefixtures("nobody_else")
def test_a_word_that_one_counter_knows_is_priced_by_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = LexicalTokenCounter(), LexicalTokenCounter()
    expected = first.count_text("the same words again")

    def refuse(piece: str) -> float:
        raise AssertionError(f"{piece!r} is priced again")

    monkeypatch.setattr(prices, "price_of", refuse)
    assert second.count_text("the same words again") == expected


@pytest.mark.usefixtures("nobody_else")
def test_prices_are_gone_with_the_last_who_counted() -> None:
    first, second = TokenLedger(), TokenLedger()
    table = ref(shared_prices())
    assert table() is None, "nobody has counted, but prices are held"
    first.count_text("some words")
    second.count_text("some words")
    table = ref(shared_prices())
    first.forget_texts()
    assert table()
    second.forget_texts()
    assert table() is None


@pytest.mark.usefixtures("nobody_else")
def test_threads_that_count_at_once_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "REMEMBERED_PIECES", 50)
    texts = [sample.text for sample in SAMPLES] * 3
    expected = [LexicalTokenCounter().count_text(text) for text in texts]
    counters = [LexicalTokenCounter() for _ in range(4)]
    with ThreadPoolExecutor(len(counters)) as pool:
        for counts in pool.map(lambda counter: [counter.count_text(text) for text in texts], counters):
            assert counts == expected
