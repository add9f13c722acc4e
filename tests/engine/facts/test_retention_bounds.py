"""Measuring retention is bounded and can be stopped, whatever was hidden and whatever stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from gemini_companion.engine.facts import vocabulary
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.retention import LOOKED_FOR, FactCache, measure_retention
from gemini_companion.engine.history.content import user_text


class _Stopped(Exception):
    pass


def hidden(count: int) -> list[FactSource]:
    lines = "\n".join(f"src/package{number}/module{number}.py" for number in range(count))
    return [FactSource(0, user_text(lines), 0)]


def test_of_more_facts_than_can_be_looked_for_the_most_worthy_are() -> None:
    assert measure_retention(hidden(3 * LOOKED_FOR), "nothing").facts <= LOOKED_FOR


def test_it_can_be_stopped_while_it_compares() -> None:
    sources = hidden(500)
    polls = 0

    def count() -> None:
        nonlocal polls
        polls += 1

    measure_retention(sources, "x", ["some text"], poll=count)
    total = polls

    def stop() -> None:
        nonlocal polls
        polls += 1
        if polls >= total:
            raise _Stopped

    polls = 0
    assert total > 400, "asked for each fact"
    with pytest.raises(_Stopped):
        measure_retention(sources, "x", ["some text"], poll=stop)


def test_words_count_as_read_only_once_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks in another thread meanwhile may not be told that they stand nowhere."""
    cache, content = FactCache(), user_text("parser cursor")
    told: list[bool] = []

    def in_the_middle(texts: Iterable[str], poll: Callable[[], None]) -> Iterator[str]:
        def words() -> Iterator[str]:
            yield "parser"
            monkeypatch.undo()
            told.append({"parser", "cursor"} <= cache.words_of((), [content], poll))
            yield "cursor"

        return words()

    monkeypatch.setattr(vocabulary, "words_of_texts", in_the_middle)
    cache.words_of((), [content], lambda: None)
    assert told == [True]


def test_to_ask_what_is_known_makes_nothing_forgotten() -> None:
    cache = FactCache(3)
    sources = [FactSource(number, user_text(f"see src/{number}.py"), number) for number in range(5)]
    for source in sources:
        cache.facts_of(source)
    assert [bool(cache.known(source)) for source in sources] == [False, False, False, True, True]
