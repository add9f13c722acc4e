"""What a session's log says, as folds of it: the history with its view, the transcript, the tools, the numbers."""

from __future__ import annotations

from typing import NamedTuple

from gemini_companion.engine.compression.breaker import Breaker
from gemini_companion.engine.compression.experience import Experience
from gemini_companion.engine.compression.preparing import Prepared
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.item import MeasureContent
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.engine.history.tool_state import ToolState
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.engine.history.view import History
from gemini_companion.engine.statistics.spending import Spending


class Folds(NamedTuple):
    """Fed by a `Session`, entry by entry."""

    history: History
    transcript: Transcript
    tools_state: ToolState
    breaker: Breaker
    experience: Experience
    prepared: Prepared
    spending: Spending
    due_ide_tokens: int = 0
    """Of the IDE context when it last left the view."""
    last_result: CompressionResult | None = None
    """Of the newest compression, undo or failed attempt."""

    def copied(self) -> Folds:
        """Folds of the same log that go on by themselves; no turn may be excluded from the view. Entries and contents
        are shared, so that this costs a pointer for each.
        """
        return self._replace(
            history=self.history.copied(),
            transcript=self.transcript.copied(),
            tools_state=self.tools_state.copied(),
            breaker=self.breaker.copied(),
            experience=self.experience.copied(),
            prepared=self.prepared.copied(),
            spending=self.spending.copied(),
        )

    def measured_with(self, measure: MeasureContent) -> Folds:
        """The same; what they take in from now on is measured with this estimate."""
        self.history.measure = measure
        self.history.counting.measure_with(measure)
        return self


def empty_folds(measure: MeasureContent, counts: StoredCounts | None = None) -> Folds:
    """Of a log without entries; `counts` has what is known of the sizes of those to come."""
    return Folds(
        History(measure, stored=counts), Transcript(), ToolState(), Breaker(), Experience(), Prepared(), Spending()
    )
