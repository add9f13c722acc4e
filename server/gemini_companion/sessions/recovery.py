"""Closing what a previous process left open in a session, when the session is held again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.history.log import ResumeEntry, TurnEndEntry
from gemini_companion.engine.history.rounds import finished_to, open_reply
from gemini_companion.engine.history.shown import Shown
from gemini_companion.engine.history.tool_entries import CallRecord
from gemini_companion.sessions.channel import EVENT_NUMBERS
from gemini_companion.sessions.compression_events import CompressionCancelled
from gemini_companion.sessions.events import TurnCancelled
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import ToolCallCompleted
from gemini_companion.sessions.tools.resuming import lost_results
from gemini_companion.sessions.tools.steering import untaken_before
from gemini_companion.sessions.turn.shown_before import ShownBefore

_LOOK_BACK: Final = 4 * EVENT_NUMBERS
"""How far back beginnings without an end are sought: a process may have reserved numbers more than once, and one that
was killed while it recovered has told nothing.
"""


async def recover(session: Session, first_event: int, last_held: int) -> None:
    """After a resumption: raise the view's epoch, and end the turns and compressions that were under way.

    `first_event` is the first event number of this process; the previous one's events have lower numbers. `last_held`
    is its last sign of life, if it was killed; see `SessionStore.hold`.
    """
    offered = untaken_before(session)
    begun = await _without_end(session, first_event)
    # Ahead of the ends: what a turn asks about stays open only as long as no prompt follows its end.
    drafts: list[Draft] = [draft for one in offered for draft in one.drafts(session, "interrupted")]
    interrupted = list(session.open_turns)
    lost: list[tuple[str, CallRecord]] = []
    for turn_id in interrupted:
        shown = begun.turns.get(turn_id, ShownBefore()).kept(session.history.entries, turn_id)
        ended, records = _ends_of(session, turn_id, shown)
        drafts += ended
        lost += ((turn_id, record) for record in records)
    if session.history.entries:
        resumed = session.stamp()
        drafts.append(lambda seq: ResumeEntry(**resumed, seq=seq, last_held=last_held))
    if drafts:
        await session.append(*drafts)
    for turn_id, record in lost:
        completed = ToolCallCompleted(
            tool_call_id=record.call_id,
            outcome=record.outcome,
            summary=record.summary,
            duration_ms=0,
            name=record.name,
        )
        session.emit(completed, turn_id)
    for turn_id in dict.fromkeys((*begun.turns, *interrupted)):
        session.emit(TurnCancelled(by="interrupted"), turn_id)
    for one in offered:
        session.emit(one.started(session.choice().name), one.turn_id)
        session.emit(TurnCancelled(by="interrupted"), one.turn_id)
    for compression_id in begun.compressions:
        session.emit(CompressionCancelled(compression_id=compression_id))


def _ends_of(session: Session, turn_id: str, shown: Shown | None) -> tuple[list[Draft], Sequence[CallRecord]]:
    """The entries that end a turn, and the calls whose results are lost.

    Finished rounds stay. So does an answer whose calls a person was being asked about, as long as nothing had begun:
    the turn can go on there.
    """
    entries, stamp = session.history.entries, session.stamp()
    reply, calls = open_reply(entries, turn_id), session.tools_state.calls_of(turn_id)
    if reply is not None:
        shown = None  # it is what was shown, and stands in the log; the next one waits for its results

    def end(seq: int, kept_to: int) -> TurnEndEntry:
        return TurnEndEntry(**stamp, seq=seq, turn_id=turn_id, outcome="interrupted", kept_to=kept_to, shown=shown)

    if reply is not None and any(call.state != "asked" for call in calls):
        results, records = lost_results(session, reply)
        return [results, lambda seq: end(seq, seq - 1)], records
    kept_to = reply.seq if reply is not None and calls else finished_to(entries, turn_id)
    return [lambda seq: end(seq, kept_to)], ()


class _Begun(NamedTuple):
    """Turns and compressions with an event of their beginning and none of their end, oldest first."""

    turns: dict[str, ShownBefore]
    compressions: dict[str, None]


async def _without_end(session: Session, first_event: int) -> _Begun:
    begun = _Begun({}, {})
    after = max(0, first_event - _LOOK_BACK - 1)
    while events := (await session.services.store.events(session.session_id, after)).events:
        after = events[-1].seq
        for stored in events:
            kind, turn_id, compression_id = (
                stored.event.get("type"),
                stored.turn_id or "",
                str(stored.event.get("compressionId")),
            )
            if kind in ("turnStarted", "promptQueued"):
                begun.turns[turn_id] = ShownBefore()
            elif kind in ("turnCompleted", "turnFailed", "turnCancelled"):
                begun.turns.pop(turn_id, None)
            elif kind == "compressionStarted":
                begun.compressions[compression_id] = None
            elif kind in ("compressionCompleted", "compressionFailed", "compressionCancelled"):
                begun.compressions.pop(compression_id, None)
            elif turn_id in begun.turns:
                begun.turns[turn_id].hear(stored)
    return begun
