"""The rules of a whole project, taken into its sessions as entries of their logs."""

from __future__ import annotations

from gemini_companion.sessions.constraints.news import emit_constraints
from gemini_companion.sessions.constraints.setting import draft_of
from gemini_companion.sessions.session import Session


async def take_in_project_rules(session: Session, turn_id: str | None = None) -> None:
    """Log what the session does not know yet of the project's rules. It must be held. Raises `StorageFault`.

    A rule that somebody made this session's own is left as it is here.
    """
    known = session.history.constraints
    drafts = [
        draft_of(session, one)
        for one in await session.services.store.constraints()
        if known.is_news(one) and not (known.get(one.constraint_id) is None and one.state == "released")
    ]
    if drafts:
        await session.append(*drafts)
        emit_constraints(session, turn_id)
