"""Going on with a turn that ended early: whether that is possible, and what of it is still to be done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import msgspec

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import PromptEntry, ReplyEntry, ToolResultEntry, TurnEndEntry, TurnOutcome
from gemini_companion.engine.history.rounds import last_end, open_reply
from gemini_companion.engine.history.tool_entries import BEHIND, CallRecord, ToolCallEntry
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.called import Called, called_in
from gemini_companion.sessions.tools.calls import NOT_BEGUN
from gemini_companion.tools.tool import ToolCall

UNKNOWN: Final = "The daemon was restarted while this ran; what it did is unknown. Look before you do it again."
ELSEWHERE: Final = (
    "This chat is a copy, made before the result came. The call went on in the other one: look before you do it again."
)
LOST: Final = "It ran to its end, but the daemon was restarted before its result was kept. Look at what it left."


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumable:
    """A turn that can go on."""

    prompt: PromptEntry
    kept_to: int
    """The last of its entries that is in the view."""
    reply: ReplyEntry | None
    """Its last answer, if its calls are still to be made."""
    outcome: TurnOutcome
    """How it ended."""
    model: str
    """The model that it was begun with; `""` for the session's."""
    reason: str
    """Why, if it failed or was stopped; else empty."""
    is_asked: bool
    """A person was being asked about one of them, and nothing that acts had begun."""

    @property
    def turn_id(self) -> str:
        """Its id."""
        return self.prompt.turn_id


def resumable(session: Session) -> Resumable | None:
    """The newest turn, if it ended early and some of it is in the view."""
    history = session.history
    turn_id = history.newest_turn
    end = last_end(history.entries, turn_id) if turn_id is not None else None
    if turn_id is None or end is None or end.outcome in ("completed", "replaced") or end.kept_to == 0:
        return None
    prompt = next(
        (one for one in reversed(history.prompts) if isinstance(one, PromptEntry) and one.turn_id == turn_id), None
    )
    if prompt is None:
        return None
    kept = history.entries.place_of(end.kept_to + 1)
    reply = open_reply(history.entries, turn_id, before=kept)
    calls = session.tools_state.calls_of(turn_id)
    return Resumable(
        prompt=prompt,
        kept_to=end.kept_to,
        reply=reply,
        outcome=end.outcome,
        model=prompt.model,
        reason=end.reason,
        is_asked=reply is not None and bool(calls) and all(call.state == "asked" for call in calls),
    )


def called_again(parts: Iterable[Part], left: Iterable[ToolCallEntry], new_id: Callable[[str], str]) -> list[Called]:
    """The calls of an answer that was written before, with the ids that they had as far as the log knows them."""
    calls, known = called_in(parts, new_id), list(left)
    for is_same in (_is_numbered, _has_arguments, _has_name):  # the surest first: earlier versions wrote no number
        for place, called in enumerate(calls):
            entry = next((one for one in known if is_same(one, called.call)), None)
            if entry is not None and called.call.call_id not in {one.call_id for one in left}:
                known.remove(entry)
                calls[place] = replace(called, call=msgspec.structs.replace(called.call, call_id=entry.call_id))
    return calls


def _is_numbered(entry: ToolCallEntry, call: ToolCall) -> bool:
    return entry.number is not None and entry.number % BEHIND == call.number


def _has_arguments(entry: ToolCallEntry, call: ToolCall) -> bool:
    return _has_name(entry, call) and entry.args == call.args


def _has_name(entry: ToolCallEntry, call: ToolCall) -> bool:
    return entry.number is None and entry.name == call.name


class Told(NamedTuple):
    """What is said of a call that has no result."""

    model: str
    people: str


_AFTER_A_RESTART: Final[Mapping[str | None, Told]] = {
    None: Told(NOT_BEGUN, "not done: the daemon was restarted"),
    "asked": Told(NOT_BEGUN, "not done: the daemon was restarted"),
    "running": Told(UNKNOWN, "unknown: the daemon was restarted"),
    "ended": Told(LOST, "its result is lost"),
}
IN_A_COPY: Final[Mapping[str | None, Told]] = {
    None: Told(NOT_BEGUN, "not done in this copy"),
    "asked": Told(NOT_BEGUN, "not done in this copy"),
    "running": Told(ELSEWHERE, "goes on in the chat that this is a copy of"),
    "ended": Told(ELSEWHERE, "its result is in the chat that this is a copy of"),
}
IN_A_FILE: Final[Mapping[str | None, Told]] = dict.fromkeys(
    (None, "asked", "running", "ended"),
    Told("This chat came with a file that has no result of this call.", "its result is not in the file"),
)
"""By the state of a call in the log; `None` for one that is not in it."""


def results_of(
    reply: ReplyEntry,
    left: Sequence[ToolCallEntry],
    told: Mapping[str | None, Told],
    new_id: Callable[[str], str],
) -> tuple[Content, tuple[CallRecord, ...]]:
    """Results of the calls of an answer that have none, and what became of each. `left` is what the log has of them."""
    states = {entry.call_id: entry.state for entry in left}
    parts: list[Part] = []
    records: list[CallRecord] = []
    for called in called_again(reply.content.parts, left, new_id):
        call, said = called.call, told[states.get(called.call.call_id)]
        parts.append(called.result({"error": said.model}))
        records.append(CallRecord(call_id=call.call_id, name=call.name, outcome="interrupted", summary=said.people))
    return Content(role="user", parts=tuple(parts)), tuple(records)


def lost_results(session: Session, reply: ReplyEntry) -> tuple[Draft, Sequence[CallRecord]]:
    """The results of calls during which the daemon ended, and what became of each."""
    left, stamp = session.tools_state.calls_of(reply.turn_id), session.stamp()
    content, records = results_of(reply, left, _AFTER_A_RESTART, session.services.new_id)

    def draft(seq: int) -> ToolResultEntry:
        return ToolResultEntry(**stamp, seq=seq, turn_id=reply.turn_id, content=content, calls=records)

    return draft, records


async def give_up_open_calls(session: Session) -> None:
    """Say of the calls of a turn that could go on that they were not made: another prompt has come."""
    before = resumable(session)
    if before is None or before.reply is None:
        return
    results, _ = lost_results(session, before.reply)
    stamp = session.stamp()

    def end(seq: int) -> TurnEndEntry:
        return TurnEndEntry(**stamp, seq=seq, turn_id=before.turn_id, outcome=before.outcome, kept_to=seq - 1)

    await session.append(results, end)
