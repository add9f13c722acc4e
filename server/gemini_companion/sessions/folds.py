"""What a session's log says, as folds of it: the history with its view, the transcript, the tools, the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gemini_companion.engine.compression.breaker import Breaker
from gemini_companion.engine.compression.experience import Experience
from gemini_companion.engine.compression.preparing import Prepared
from gemini_companion.engine.history.appending import only_appends
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.item import MeasureContent
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    CompressionResult,
    ContentEntry,
    Entry,
    IdeContextEntry,
    ResumeEntry,
    UndoEntry,
)
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

    def gone_back(self, log: Sequence[Entry]) -> Folds | None:
        """The same, as they were when these first entries were all of the log; `None` if only taking those in tells.

        Not to be used themselves afterwards. The view is not built again, which is most of the work: behind these
        nothing came but what appends to it, and resumptions that left it as it was.
        """
        history = self.history
        if not log or history.excluded_from is not None or history.standing:
            return None
        last = log[-1].seq
        behind = history.entries.since(last + 1)
        others = [entry for entry in behind if not only_appends(entry)]
        if not all(isinstance(entry, ResumeEntry) and entry.reason != "clear" for entry in others):
            return None
        was_told = IdeContextEntry in set(map(type, behind))
        if others and (was_told or IdeContextEntry in set(map(type, log))):
            return None  # a resumption takes what was told of the editor out of the view
        if was_told and not any(entry.seq <= last for entry in history.ide_entries):
            return None  # it may have been due
        history.go_back(last)
        history.counting.go_back(last)
        history.entries.only(log)
        history.epoch -= len(others)
        unsaid = [entry for entry in log if not isinstance(entry, ContentEntry)]
        folds = Transcript(log), ToolState(log), Breaker(unsaid), Experience(log), Prepared(unsaid), Spending(unsaid)
        return Folds(history, *folds, 0 if was_told else self.due_ide_tokens, newest_result(unsaid))

    def measured_with(self, measure: MeasureContent) -> Folds:
        """The same; what they take in from now on is measured with this estimate."""
        self.history.measure = measure
        self.history.counting.measure_with(measure)
        return self


class Takers(dict[type, tuple[Callable[[Entry], None], ...]]):
    """By kinds of entries, how those of a log's folds take one in that it concerns, the history not among them.

    Most entries of a log concern two folds of six.
    """

    def __init__(self, folds: Folds) -> None:
        super().__init__()
        self._folds = (
            folds.transcript,
            folds.tools_state,
            folds.breaker,
            folds.experience,
            folds.prepared,
            folds.spending,
        )

    def __missing__(self, kind: type) -> tuple[Callable[[Entry], None], ...]:
        takers = self[kind] = tuple(fold.apply for fold in self._folds if kind not in fold.ignored)
        return takers


def newest_result(log: Sequence[Entry]) -> CompressionResult | None:
    """Of the newest compression, undo or failed attempt; that nothing was to be done stands in no log."""
    found = (one.result for one in reversed(log) if isinstance(one, AttemptEntry | CompressionEntry | UndoEntry))
    return next(found, None)


def empty_folds(measure: MeasureContent, counts: StoredCounts | None = None) -> Folds:
    """Of a log without entries; `counts` has what is known of the sizes of those to come."""
    return Folds(
        History(measure, stored=counts), Transcript(), ToolState(), Breaker(), Experience(), Prepared(), Spending()
    )
