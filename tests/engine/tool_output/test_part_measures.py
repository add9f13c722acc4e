"""What planning masks needs of a part is counted once, and kept in a bounded memory."""

from __future__ import annotations

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import Measure
from gemini_companion.engine.tool_output.part_measures import KEPT, PartMeasures


class Counter:
    def __init__(self) -> None:
        self.counted: list[Content] = []

    def measure(self, content: Content) -> Measure:
        self.counted.append(content)
        return Measure(len(self.counted), 0, 0)


def test_a_part_is_counted_once_and_one_that_only_looks_like_it_for_itself() -> None:
    counter = Counter()
    measures = PartMeasures(counter.measure)
    part, twin = {"text": "same"}, {"text": "same"}
    assert [measures.tokens("user", part), measures.tokens("user", twin), measures.tokens("user", part)] == [1, 2, 1]
    assert measures.tokens("model", part) == 3


def test_what_stands_for_a_part_depends_on_how_it_is_referred_to() -> None:
    measures = PartMeasures(Counter().measure)
    part = {"text": "x"}
    made: list[str] = []

    def make(text: str) -> tuple[str, int]:
        made.append(text)
        return text, 1

    for reference in ("a", "b", "a"):
        assert measures.masked(part, reference, lambda text=reference: make(text)) == (reference, 1)
    assert made == ["a", "b"]


def test_what_was_not_asked_for_longest_is_forgotten_first() -> None:
    counter = Counter()
    measures = PartMeasures(counter.measure)
    parts = [{"text": str(number)} for number in range(KEPT + 1)]
    for part in parts[:-1]:
        measures.tokens("user", part)
    measures.tokens("user", parts[0])
    measures.tokens("user", parts[-1])
    before = len(counter.counted)
    measures.tokens("user", parts[0])
    assert len(counter.counted) == before
    measures.tokens("user", parts[1])
    assert len(counter.counted) == before + 1
