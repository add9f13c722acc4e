"""What a fork begins with: the entries of another session, and what that knows of their sizes."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import load, off_loop


async def fork_of(source: Session, at_turn: str | int | None) -> tuple[tuple[Entry, ...], StoredCounts]:
    """The log of a session that begins as `source` was after a turn, or as it is; see `entries_until`.

    Raises `InvalidInput` if there is no such turn.
    """
    await load("gemini_companion.sessions.interchange.importing")
    from gemini_companion.sessions.interchange.importing import copied, entries_until

    log = list(source.history.entries)

    def work() -> tuple[tuple[Entry, ...], StoredCounts]:
        entries = copied(entries_until(log, at_turn), source.services, "fork")
        return entries, _counts(source.history, log, entries)

    return await off_loop(len(log), work)


def _counts(history: History, log: Sequence[Entry], entries: Sequence[Entry]) -> StoredCounts:
    """Sizes of the entries that both have; the ends of what was open have numbers that mean others in the source."""
    own = {id(entry) for entry in log}
    same = {entry.seq for entry in entries if id(entry) in own}
    return StoredCounts({item.seq: history.counting.counted(item) for item in history.sources if item.seq in same})
