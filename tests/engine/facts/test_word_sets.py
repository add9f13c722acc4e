"""Every word of a conversation is known, however its texts are put together to be searched."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.facts.word_sets import AT_ONCE, words_of_texts
from gemini_companion.engine.history.content import user_text

_TEXTS = st.lists(st.text(st.sampled_from("aZß9.,_-/ \n\t\xa0\u3000\x1c漢字İ"), max_size=40), max_size=6)


class _Stopped(Exception):
    pass


def _go_on() -> None:
    pass


def _stop() -> None:
    raise _Stopped


@given(_TEXTS)
def test_texts_have_the_words_that_each_of_them_has(texts: list[str]):
    runs = {run for text in texts for run in re.findall(r"[a-z]+|[0-9]+(?:[.,][0-9]+)*", text.casefold())}
    assert runs <= words_of_texts(texts, _go_on) == set[str]().union(*(words_of_texts([t], _go_on) for t in texts))


def test_long_and_short_texts_together_lose_no_word():
    sizes = (0, 1, AT_ONCE - 10, AT_ONCE, 2 * AT_ONCE)
    for first, second in product(sizes, sizes):
        texts = ["alpha ", "gap " * (first // 4) + "beta", "gamma " + "gap " * (second // 4), "v1.2.3"]
        words = words_of_texts(texts, _go_on)
        assert words - {"gap"} == {"alpha", "beta", "gamma", "v", "1.2.3", "1.2", "1", "2", "3"}


def test_what_a_search_that_was_ended_had_not_read_is_read_by_the_next():
    cache = FactCache()
    contents = [user_text(f"word{number}") for number in range(3)]
    with pytest.raises(_Stopped):
        cache.words_of((), contents, _stop)
    assert cache.words_of((), contents, _go_on) == {"word", "0", "1", "2"}
