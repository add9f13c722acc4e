"""When automatic compression must not try again: its failure flag and its pauses, as a fold of the log."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import ClassVar, Final, NamedTuple, Self

from gemini_companion.engine.compression.types import FAULTS, Counts
from gemini_companion.engine.history.appending import TURN_KINDS
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import AttemptEntry, CompressionEntry, Entry, UndoEntry

FAILURES_IN_A_ROW: Final = 3
"""Automatic runs ending in an empty summary, a count error or a model fault after which no model is asked any more."""

GROWTH_THAT_CLEARS: Final = 1.5
"""The flag clears when the count has grown to this multiple of what it was."""

PAUSE_SHARE: Final = 0.1
"""Share of the limit by which the count must grow after an undo or a cancelled automatic run."""

GROWTH_AFTER_LITTLE: Final = 1.1
"""After an automatic compression that saved next to nothing, the next waits until the count is this multiple of it."""


class Pause(NamedTuple):
    """What automatic compression waits for."""

    until: int
    """The count at which it goes on, in tokens."""
    saved_little: bool
    """True if the last one saved next to nothing, False if it was undone or cancelled."""


class Breaker(Fold):
    """The failure flag (Gemini CLI's `hasFailedCompressionAttempt`) and the pauses of automatic compression.

    Token counts are the session's: the whole request without its prompt. A pause that `pause` set is not in the log.
    """

    ignored: ClassVar = TURN_KINDS

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._failed_at: int | None = None
        self._failures = 0
        self._paused_at: int | None = None
        self._logged_pause: int | None = None
        """The pause without what `pause` set."""
        self._little_at: int | None = None
        """The count behind an automatic compression that saved next to nothing."""
        for entry in entries:
            self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Take in the next entry of the log."""
        match entry:
            case AttemptEntry():
                self._attempt(entry)
            case CompressionEntry(result=result):
                if result.status == "COMPRESSED":
                    self._failed_at, self._failures, self._little_at = None, 0, None
                    self._paused_at = self._logged_pause = None
                if result.trigger != "manual" and Counts.of(result).save_little:
                    self._little_at = result.new_token_count
            case UndoEntry(result=result):
                self._failed_at, self._failures, self._little_at = None, 0, None
                self._paused_at = self._logged_pause = result.new_token_count
            case _:
                pass

    def _attempt(self, entry: AttemptEntry) -> None:
        status = entry.result.status
        if status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" and not entry.forced:
            self._failed_at = entry.token_count
        elif entry.result.trigger == "auto" and (status in FAULTS or entry.fault):
            self._failures += 1
            if self._failures >= FAILURES_IN_A_ROW:
                self._failed_at = entry.token_count

    def copied(self) -> Self:
        """One that says the same; what is not in the log stays behind."""
        made = super().copied()
        made._paused_at = made._logged_pause
        return made

    def pause(self, token_count: int) -> None:
        """An automatic run was cancelled at this count."""
        self._paused_at = token_count

    def has_failed(self, token_count: int) -> bool:
        """The failure flag, at the present count."""
        return self._failed_at is not None and token_count < self._failed_at * GROWTH_THAT_CLEARS

    def is_paused(self, token_count: int, token_limit: int) -> bool:
        """True while automatic compression waits for the count to grow."""
        return self.pause_at(token_count, token_limit) is not None

    def pause_at(self, token_count: int, token_limit: int) -> Pause | None:
        """What it waits for at this count, `None` while it does not wait: a tenth of the limit above the pause, or a
        tenth above what the last one left where it saved next to nothing, whichever is later.

        A pause at a count beyond the window is none: no view has so many tokens, whatever an imported log says.
        """
        waits: list[Pause] = []
        if self._little_at is not None and self._little_at <= token_limit:
            waits.append(Pause(ceil(self._little_at * GROWTH_AFTER_LITTLE), saved_little=True))
        if self._paused_at is not None and self._paused_at <= token_limit:
            waits.append(Pause(ceil(self._paused_at + token_limit * PAUSE_SHARE), saved_little=False))
        latest = max(waits, default=None)
        return latest if latest and token_count < latest.until else None
