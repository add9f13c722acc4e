"""What is asked of a text first is answered as what is asked of it later, once its words were told apart."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.fact import Fact
from gemini_companion.engine.facts.haystack import INVISIBLE, Haystack, needle_of

OFTEN = 40
"""More questions than are answered by a plain search."""

scraps = st.sampled_from(
    ("foo", "foo_bar", "80", "8080", "a-b", "a b", "É", "`x`", "Port", "..", "_", "ö", " ", "\n", "")
)
texts = st.lists(scraps, max_size=8).map(lambda some: "".join(some))

any_text = st.text(
    st.one_of(
        st.sampled_from("aZ09_ \n\x1c\x1f\x00\x1b`*“”’‹\u00a0\u2028\u3000\u0085\u200e漢かßŉKſİΣςÉé🙂\ud800\udc00"),
        st.characters(),
    ),
    max_size=60,
)


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


@given(any_text)
def test_capitals_blanks_and_signs_make_no_difference_whatever_the_script(text: str):
    signs = INVISIBLE | str.maketrans({"‹": "<", "’": "'", "`": None, "*": None, "“": '"', "”": '"'})
    plain = " ".join(text.translate(signs).casefold().split())
    assert needle_of(named(text)).plain == (plain.strip(" .:;!。！：；-") or plain)


def test_more_capitals_than_are_replaced_one_by_one_are_made_small_too():
    capitals = "".join(map(chr, range(0x410, 0x430))) + "".join(map(chr, range(0x391, 0x3A2)))
    assert needle_of(named(capitals)).plain == capitals.casefold()
