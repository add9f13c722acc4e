"""Telling the clients of a session that its rules changed."""

from __future__ import annotations

from gemini_companion.sessions.events import ConstraintsChanged
from gemini_companion.sessions.session import Session


def emit_constraints(session: Session, turn_id: str | None = None) -> None:
    """Send all rules to every subscriber, with the turn's id if its prompt changed them."""
    session.emit(ConstraintsChanged(constraints=session.history.constraints.all()), turn_id)


async def tell(session: Session) -> None:
    """The same, and the new token count, which the listing has too."""
    emit_constraints(session)
    session.notify_usage()
    await session.update_listing()
