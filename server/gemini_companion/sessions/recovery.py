"""What a holder that is gone left open in a session: closed when the session is held again, and told."""

from __future__ import annotations

from gemini_companion.engine.history.log import ResumeEntry, TurnEndEntry
from gemini_companion.sessions.channel import EVENT_NUMBERS
from gemini_companion.sessions.events import CompactionCancelled, TurnCancelled
from gemini_companion.sessions.session import Draft, Session


async def recover(session: Session, first_event: int) -> None:
    """After a resumption: the view's epoch rises, and nothing that was under way is under way any more.

    `first_event` is the first event number of this holder; what the last one told stands before it.
    """
    drafts: list[Draft] = []
    interrupted = list(session.open_turns)
    for turn_id in interrupted:
        stamp = session.stamp()
        drafts.append(lambda seq, stamp=stamp, turn_id=turn_id: TurnEndEntry(**stamp, seq=seq, turn_id=turn_id, outcome="interrupted"))
    if session.history.entries:
        resumed = session.stamp()
        drafts.append(lambda seq: ResumeEntry(**resumed, seq=seq))
    if drafts:
        await session.append(*drafts)
    turns, compactions = await _without_end(session, first_event)
    for turn_id in dict.fromkeys((*turns, *interrupted)):
        session.emit(TurnCancelled(by="interrupted"), turn_id)
    for compaction_id in compactions:
        session.emit(CompactionCancelled(compaction_id=compaction_id))


async def _without_end(session: Session, first_event: int) -> tuple[list[str], list[str]]:
    """The turns and the compactions whose beginning was told, but whose end was not: their ids, oldest first."""
    turns: dict[str, None] = {}
    compactions: dict[str, None] = {}
    after = max(0, first_event - EVENT_NUMBERS - 1)
    while events := (await session.services.store.events(session.session_id, after)).events:
        after = events[-1].seq
        for stored in events:
            kind, turn_id, compaction_id = stored.event.get("type"), stored.turn_id or "", str(stored.event.get("compactionId"))
            if kind in ("turnStarted", "promptQueued"):
                turns[turn_id] = None
            elif kind in ("turnCompleted", "turnFailed", "turnCancelled"):
                turns.pop(turn_id, None)
            elif kind == "compactionStarted":
                compactions[compaction_id] = None
            elif kind in ("compactionCompleted", "compactionFailed", "compactionCancelled"):
                compactions.pop(compaction_id, None)
    return list(turns), list(compactions)
