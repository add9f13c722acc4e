"""The changes of a chat with those that its subagents made for it, which stand in the subagents' own logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from gemini_companion.engine.errors import InvalidInput, SessionBusy
from gemini_companion.engine.history.change_record import ChangeRecord, FileRecord
from gemini_companion.sessions.session import Session

Loaded: TypeAlias = Callable[[str], Session | None]
"""What gives a session that is loaded."""


class ChatChanges(NamedTuple):
    """What a session's turns did to files, the work of its subagents included."""

    record: ChangeRecord
    agents: dict[str, str]
    """Titles of the subagents, by the ids of their changes."""
    sessions: tuple[str, ...]
    """Ids of the subagents' sessions, of those too that changed nothing."""
    held: dict[str, int]
    """The process ids of other, living processes that hold sessions of subagents, by their titles."""

    def agents_of(self, one: FileRecord) -> tuple[str, ...]:
        """The subagents that had a part in a change of a file, each once."""
        return tuple(dict.fromkeys(self.agents[step.change_id] for step in one.steps if step.change_id in self.agents))


async def changes_of_chat(session: Session) -> ChatChanges:
    """A session's changes as they are in the store now: a chat's with those of its subagents, each as part of the turn
    that called it, a fork's of those too that worked for the turns that it began with; a subagent's with what was taken
    back and kept of them in its chat. Raises `StorageFault`.
    """
    own = session.tools_state.changes
    after = {session_id: record.newest for session_id, record in own.beside.items()}
    logged = await session.services.store.changes_beside(session.session_id, after, own.turns)
    turns: dict[str, str] = {}
    agents: dict[str, str] = {}
    held: dict[str, int] = {}
    for one in logged:
        session_id, agent = one.meta.session_id, one.meta.agent
        record = own.beside.setdefault(session_id, ChangeRecord())
        for entry in one.entries:
            if entry.seq > record.newest:  # two may read at once
                record.apply(entry)
        if agent is not None:
            turns[session_id] = agent.turn_id
            agents |= dict.fromkeys(record.entries, agent.definition.title)
            if one.meta.held_by is not None:
                held[agent.definition.title] = one.meta.held_by
    return ChatChanges(own.with_those_of(turns, own.beside.items()) if logged else own, agents, tuple(turns), held)


def require_idle(*sessions: Session) -> None:
    """Raise `InvalidInput` while a turn runs in one of the sessions."""
    if not all(one.lane.is_idle for one in sessions):
        raise InvalidInput(
            "The model is at work, and files are not taken away under it.",
            hint="Stop the turn, or wait for its end, then try again.",
        )


async def record_at_rest(session: Session, loaded: Loaded) -> ChangeRecord:
    """The changes of a chat. Raises `InvalidInput` or `SessionBusy` if one of its subagents is, or may be, at work."""
    found = await changes_of_chat(session)
    for title, pid in found.held.items():
        raise SessionBusy(
            f"Another process (pid {pid}) holds the session of the subagent {title}.",
            hint="Leave it there, or take it over, then try again.",
        )
    require_idle(*filter(None, map(loaded, found.sessions)))
    return found.record
