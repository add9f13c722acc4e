"""What is asked of a text first is answered as what is asked of it later, once its words were told apart."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.fact import Fact
from gemini_companion.engine.facts.haystack import Haystack, needle_of

OFTEN = 40
"""More questions than are answered by a plain search."""

scraps = st.sampled_from(
    ("foo", "foo_bar", "80", "8080", "a-b", "a b", "É", "`x`", "Port", "..", "_", "ö", " ", "\n", "")
)
texts = st.lists(scraps, max_size=8).map(lambda some: "".join(some))


def named(text: str) -> Fact:
    return Fact("symbol", text, 0, 0)


@given(st.lists(texts, max_size=3), st.lists(texts, max_size=4))
def test_the_first_question_is_answered_as_the_last(said: list[str], asked: list[str]):
    known = Haystack(said)
    for _ in range(OFTEN):
        known.has(needle_of(named("nowhere")))
    for text in asked:
        needle = needle_of(named(text))
        assert Haystack(said).has(needle) == known.has(needle)


@given(st.lists(texts, min_size=1, max_size=3), texts)
def test_what_is_put_behind_is_found_as_if_it_had_been_there(said: list[str], asked: str):
    added, needle = Haystack(said[:-1]), needle_of(named(asked))
    added.add(said[-1])
    assert added.has(needle) == Haystack(said).has(needle)
    assert added.has_most(needle, 0.6) == Haystack(said).has_most(needle, 0.6)


def test_nothing_is_read_before_it_is_asked_for():
    read: list[str] = []

    def texts_of() -> Iterator[str]:
        read.append("here")
        yield "here"

    haystack = Haystack(texts_of())
    assert not read
    assert haystack.has(needle_of(named("here")))
    assert read
