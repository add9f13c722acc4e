"""Words of contents that are packed in memory are known as those of all others, and are read once."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.engine.compression.sources import PastSource, sources_of
from gemini_companion.engine.facts import vocabulary
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.history import block as blocks
from gemini_companion.engine.history import putting_away
from gemini_companion.engine.history.content import user_text
from tests.support.logs import Book
from tests.support.packing import Packing


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever can be put away is, in blocks of three entries."""
    monkeypatch.setattr(putting_away, "FEWEST", 1)
    monkeypatch.setattr(blocks, "ENTRIES", 3)


def packed_and_looked_through() -> Packing:
    packing, book = Packing(), Book()
    for number in range(12):
        book.say("Well.", f"Fine{chr(97 + number)}.")
    book.compress()
    book.say("And then?", "Nothing.")
    for entry in book.entries:
        packing.apply(entry)
    packing.facts.look_through(sources_of(tuple(packing.history.sources), packing.facts), lambda: None)
    packing.pack()
    return packing


def test_where_the_words_began_anew_those_of_what_is_packed_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    packing = packed_and_looked_through()
    assert packing.gone > 10
    sources, reads = sources_of(tuple(packing.history.sources), packing.facts), 0
    read = PastSource.__getattr__

    def counted(self: PastSource, name: str) -> Any:
        nonlocal reads
        reads += 1
        return read(self, name)

    monkeypatch.setattr(PastSource, "__getattr__", counted)
    packing.facts.words_of(sources, (), lambda: None)
    assert reads == 0
    monkeypatch.setattr(vocabulary, "MOST_WORDS", 1)
    packing.facts.words_of((), [user_text("begins anew")], lambda: None)
    monkeypatch.undo()
    monkeypatch.setattr(PastSource, "__getattr__", counted)
    told = packing.facts.words_of(sources, (), lambda: None)
    assert reads > 10
    assert {f"fine{chr(97 + number)}" for number in range(8)} <= told
    reads = 0
    assert packing.facts.words_of(sources, (), lambda: None) == told
    assert reads == 0


def test_words_that_another_thread_lets_begin_anew_are_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    packing = packed_and_looked_through()
    cache = FactCache()
    sources = sources_of(tuple(packing.history.sources), cache)
    real = vocabulary.words_of_texts

    def interrupted(texts: Any, poll: Any) -> set[str]:
        words = real(texts, poll)
        monkeypatch.setattr(vocabulary, "words_of_texts", real)
        monkeypatch.setattr(vocabulary, "MOST_WORDS", 1)
        cache.words_of((), [user_text("another thread")], poll)
        monkeypatch.setattr(vocabulary, "MOST_WORDS", 1_000_000)
        return words

    cache.words_of((), [user_text("one")], lambda: None)
    monkeypatch.setattr(vocabulary, "words_of_texts", interrupted)
    wanted = {f"fine{chr(97 + number)}" for number in range(12)}
    assert wanted <= cache.words_of(sources, (), lambda: None)
    assert wanted <= cache.words_of(sources, (), lambda: None)
