"""What a fork begins with: the entries of another session, and what that knows of their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import Entry, SteerOfferedEntry
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.interchange.importing import copied, entries_until
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.shared_entries import Ranges, ranges_of
from gemini_companion.sessions.threads import off_loop


class Fork(NamedTuple):
    """The log that a session begins with."""

    shared: Sequence[Entry]
    """Entries of the session that it is forked from."""
    own: Sequence[Entry]
    """What is written for it behind them."""
    counts: StoredCounts
    """What is known of the sizes of those that it shares."""

    @property
    def ranges(self) -> Ranges:
        """The numbers of what it shares."""
        return ranges_of(self.shared)


async def fork_of(source: Session, at_turn: str | int | None) -> Fork:
    """The log of a session that begins as `source` was after a turn, or as it is; see `entries_until`.

    Raises `InvalidInput` if there is no such turn.
    """
    log = list(source.history.entries)

    def work() -> Fork:
        shared = [entry for entry in entries_until(log, at_turn) if not isinstance(entry, SteerOfferedEntry)]
        own = copied(shared, source.services, "fork")[len(shared) :]
        return Fork(shared, own, _counts(source.history, shared))

    return await off_loop(len(log), work)


def _counts(history: History, shared: Sequence[Entry]) -> StoredCounts:
    """Sizes of the entries that both have."""
    same = {entry.seq for entry in shared}
    return StoredCounts({item.seq: history.counting.counted(item) for item in history.sources if item.seq in same})
