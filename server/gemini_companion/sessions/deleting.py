"""Deleting a session, after ending what runs in it."""

from __future__ import annotations

from gemini_companion.sessions.registry import SessionRegistry
from gemini_companion.sessions.tools.tooling import Tooling


async def delete_session(session_id: str, sessions: SessionRegistry, tooling: Tooling) -> list[str]:
    """Delete a session with its subagents'; the ids of those that were loaded, and its own. One that could not be
    deleted goes on as it was, but for what ran in it. Raises `SessionNotFound`, `SessionBusy`, `StorageFault`.
    """
    sessions.making.require_told(session_id)
    chat_and_agents = (session_id, *sessions.agents_of(session_id))
    try:
        for one in chat_and_agents:
            if (session := sessions.get(one)) is not None:
                await session.stop("delete")
            await tooling.commands.end(one)
        return await sessions.delete(session_id)
    except BaseException:
        for one in chat_and_agents:
            if (session := sessions.get(one)) is not None:
                session.is_gone, session.compressions.ahead.is_allowed = False, True
        raise
