"""Ending in a copy of a log what was under way when it was made: the copy does not go on with it by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from gemini_companion.engine.history.log import Entry, ResumeEntry, ToolResultEntry, TurnEndEntry
from gemini_companion.engine.history.rounds import finished_to, open_reply
from gemini_companion.engine.history.shown import Shown
from gemini_companion.engine.history.tool_state import ToolState
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.tools.resuming import IN_A_COPY, IN_A_FILE, results_of


def closing(
    entries: Sequence[Entry],
    services: Services,
    why: Literal["fork", "import"],
    known: tuple[Transcript, ToolState] | None = None,
    shown: Mapping[str, Shown] = MappingProxyType({}),
) -> tuple[Entry, ...]:
    """What is written behind the entries of a copy: every turn has ended, every call has a result, and the view a new
    epoch.

    `known` is what the entries say, where somebody has taken them in already; `shown`, by turn, what people see of an
    answer that they do not have yet.
    """
    ends = _ends_of_open_turns(entries, services, why, known, shown)
    last = next((one.seq for one in (*reversed(ends), *entries[-1:])), 0)
    return (*ends, ResumeEntry(id=services.new_id("entry"), time=services.clock.now(), seq=last + 1, reason=why))


def _ends_of_open_turns(
    entries: Sequence[Entry],
    services: Services,
    reason: Literal["fork", "import"],
    known: tuple[Transcript, ToolState] | None,
    shown: Mapping[str, Shown],
) -> tuple[Entry, ...]:
    """Entries that end the turns and the changes under way, and give every call that is in the view a result.

    A call is made where it was asked for: a copy that made it again would do its work twice. What it does to files is
    recorded there too: settled here, everything since the copy would be listed as its work.
    """
    transcript, state = known or (Transcript(entries), ToolState(entries))
    told = IN_A_COPY if reason == "fork" else IN_A_FILE
    seq = entries[-1].seq if entries else 0
    added: list[Entry] = []
    for turn_id in _unfinished(entries, transcript):
        reply, kept_to = open_reply(entries, turn_id), finished_to(entries, turn_id)
        if reply is not None:
            content, records = results_of(reply, state.calls_of(turn_id), told, services.new_id)
            kept_to = seq = seq + 1
            added.append(ToolResultEntry(**_stamp(services), seq=seq, turn_id=turn_id, content=content, calls=records))
        seq += 1
        added.append(
            TurnEndEntry(
                **_stamp(services),
                seq=seq,
                turn_id=turn_id,
                outcome="interrupted",
                kept_to=kept_to,
                reason=reason,
                shown=shown.get(turn_id),
            )
        )
    for change in state.changes.open:
        seq += 1
        added.append(
            msgspec.structs.replace(
                change, **_stamp(services), seq=seq, changes=(), is_done=True, stamps="", reverts=(), paths=()
            )
        )
    return tuple(added)


def _unfinished(entries: Sequence[Entry], transcript: Transcript) -> Iterator[str]:
    """Turns that have not ended, and the newest one if it ended with an answer whose calls were still to be made."""
    yield from transcript.unfinished
    last = transcript.last_in_view  # a prompt that nothing came of is in no view, and leaves the one before it
    end = transcript.end_of(last)
    if end is not None and end.outcome not in ("completed", "replaced"):
        reply = open_reply(entries, last)
        if reply is not None and reply.seq <= end.kept_to:
            yield last


def _stamp(services: Services) -> dict[str, Any]:
    return {"id": services.new_id("entry"), "time": services.clock.now()}
