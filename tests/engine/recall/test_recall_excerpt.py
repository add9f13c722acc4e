"""The part of a passage that shows why it was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.recall.excerpt import BESIDE, EXCERPT, beginning, excerpt

FILLING = "something else entirely " * 100


@pytest.mark.parametrize("place", ["front", "middle", "end"])
def test_an_excerpt_shows_the_words_that_were_found_wherever_they_stand(place: str):
    found = "the retries were configured twice"
    text = {"front": found + FILLING, "middle": FILLING + found + FILLING, "end": FILLING + found}[place]
    shown = excerpt(text, ("retry", "configure"))
    assert found in shown
    assert shown.startswith("…") == (place != "front")
    assert shown.endswith("…") == (place != "end")


def test_a_short_text_is_shown_whole():
    assert excerpt(" all of it ", ("nothing",)) == "all of it"


@given(st.text(max_size=3_000), st.lists(st.text(max_size=10), max_size=5))
def test_an_excerpt_is_part_of_the_text_and_has_a_bound(text: str, words: list[str]):
    shown = excerpt(text, words)
    assert len(shown) <= EXCERPT
    assert shown.removeprefix("…").removesuffix("…") in text or shown in text


@given(st.text(max_size=2_000))
def test_a_beginning_is_one_line_with_a_bound(text: str):
    shown = beginning(text)
    assert len(shown) <= BESIDE
    assert len(shown.splitlines()) <= 1
