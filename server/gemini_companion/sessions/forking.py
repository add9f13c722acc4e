"""What a fork begins with: the entries of another session, and what that knows of their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import Entry, SteerOfferedEntry, TurnEndEntry
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import LedgerMemory, TokenLedger
from gemini_companion.sessions.folds import Folds, newest_result
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.shared_entries import Ranges, ranges_of
from gemini_companion.sessions.threads import load, off_loop


class Fork(NamedTuple):
    """The log that a session begins with."""

    shared: Sequence[Entry]
    """Entries of the session that it is forked from."""
    own: Sequence[Entry]
    """What is written for it behind them."""
    counts: StoredCounts
    """What is known of the sizes of those that it shares."""
    folds: Folds | None = None
    """What those say, where that is known without taking them in again."""
    ledger: TokenLedger | None = None
    """It knows what the API's counts taught of the model, and where the view is the same, how many tokens it has."""

    @property
    def ranges(self) -> Ranges:
        """The numbers of what it shares."""
        return ranges_of(self.shared)


async def fork_of(source: Session, at_turn: str | int | None) -> Fork:
    """The log of a session that begins as `source` was after a turn, or as it is; see `entries_until`.

    Of one that is forked as it is nothing is taken in again, and at an earlier turn as little as may be. Raises
    `InvalidInput` if there is no such turn.
    """
    await load("gemini_companion.sessions.copying")
    from gemini_companion.sessions.copying import closing

    history, entries = source.history, source.history.entries.copied()
    known = source.folds.copied() if history.excluded_from is None else None
    shown = source.lane.shown if at_turn is None else {}
    memory = source.ledger.memory(source.choice().name, history.epoch)

    def work() -> Fork:
        log = list(entries)
        shared: Sequence[Entry] = log if at_turn is None else entries_until(log, at_turn)
        is_whole = len(shared) == len(log)
        folds = known.gone_back(shared) if known is not None and at_turn is not None else known
        if SteerOfferedEntry in set(map(type, shared)):
            shared = [entry for entry in shared if not isinstance(entry, SteerOfferedEntry)]  # sent where it was said
        if folds is None:
            own = closing(shared, source.services, "fork", shown=shown)
            return Fork(shared, own, _counts(history, shared), ledger=_ledger(memory, None))
        if len(shared) != len(folds.history.entries):
            folds.history.entries.only(shared)
        folds.tools_state.offered.clear()
        own = closing(shared, source.services, "fork", (folds.transcript, folds.tools_state), shown)
        if folds.last_result is not None and folds.last_result.status == "NOOP":
            folds = folds._replace(last_result=newest_result(shared))
        # Where nothing but its opening is new, what raises the epoch, the view is the same.
        ledger = _ledger(memory, folds.history.epoch + 1 if is_whole and len(own) == 1 else None)
        return Fork(shared, own, StoredCounts(), folds, ledger)

    return await off_loop(entries.units, work)


def entries_until(entries: Sequence[Entry], at_turn: str | int | None) -> tuple[Entry, ...]:
    """The log as it was after `at_turn`: a turn's id, or its number among the completed ones from 1; whole if `None`.

    Raises `InvalidInput` if there is no such turn.
    """
    if at_turn is None:
        return tuple(entries)
    ends = [entry for entry in entries if isinstance(entry, TurnEndEntry)]
    if isinstance(at_turn, int):
        replaced = {entry.turn_id for entry in ends if entry.outcome == "replaced"}
        completed = [entry for entry in ends if entry.outcome == "completed" and entry.turn_id not in replaced]
        if not 1 <= at_turn <= len(completed):
            raise InvalidInput(f"There is no turn {at_turn}; this session has {len(completed)}.", path="$.atTurn")
        end = completed[at_turn - 1]
    else:
        # One that was resumed has ended more than once; that another one took its place came after it.
        found = next((end for end in reversed(ends) if end.turn_id == at_turn and end.outcome != "replaced"), None)
        if found is None:
            raise InvalidInput(
                f"There is no finished turn {at_turn}.", path="$.atTurn", hint="Turn ids are in gemini/session/history."
            )
        end = found
    return tuple(entry for entry in entries if entry.seq <= end.seq)


def _ledger(memory: LedgerMemory | None, epoch: int | None) -> TokenLedger:
    """`epoch` is that of the fork's view, where it is the source's."""
    ledger = TokenLedger()
    if memory is not None:
        ledger.recall(memory, epoch)
    return ledger


def _counts(history: History, shared: Sequence[Entry]) -> StoredCounts:
    """Sizes of the entries that both have."""
    same = {entry.seq for entry in shared}
    return StoredCounts({item.seq: history.counting.counted(item) for item in history.sources if item.seq in same})
