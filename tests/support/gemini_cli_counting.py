"""Gemini CLI's way of counting tokens, for comparisons with its answers."""

from __future__ import annotations

from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import Measure
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.tokens.ledger import TokenLedger


class GeminiCliCounter:
    """A quarter for ASCII and one and a half for anything else, past 100,000 UTF-16 units a quarter for all."""

    def count_text(self, text: str) -> float:
        units = len(text.encode("utf-16-le", "surrogatepass")) // 2
        ascii_units = units if units > 100_000 else len(text.encode("ascii", "ignore"))
        return ascii_units / 4 + (units - ascii_units) * 1.5


class GeminiCliLedger(TokenLedger):
    """Counts a response by its text alone, as Gemini CLI's budget does."""

    def __init__(self) -> None:
        super().__init__(GeminiCliCounter())

    def believes(self, estimated: int, counted: int, media: int = 0) -> bool:
        return True  # the vectors' counts are made up

    def believes_both(
        self, estimated: tuple[int, int], counted: tuple[int, int], media: tuple[int, int] = (0, 0)
    ) -> bool:
        return True

    def measure(self, content: Content) -> Measure:
        tools = sum(
            int(self.count_text(whole_text(response)))
            for part in content.parts
            if (response := response_of(part)) is not None
        )
        others = Content(role="model", parts=tuple(part for part in content.parts if response_of(part) is None))
        return Measure(tools + super().measure(others).tokens, tools)
