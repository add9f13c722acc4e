"""A chat that another process took: whoever has it open here is told, and what runs in it here ends."""

from __future__ import annotations

import asyncio

from gemini_companion.engine.errors import SessionNotFound
from gemini_companion.sessions.application import Application


def end_taken(app: Application, session_id: str) -> None:
    """Tell the clients that have a session open that another process took it, and stop what runs in it and beside: no
    word of that could be written any more, and no model should be paid for it. Commands in the background go on, for a
    person may want them: those clients can list and stop them as before.

    One that this process has taken back meanwhile goes on.
    """
    for client in app.subscribers(session_id):
        client.sink.taken(session_id)
    try:
        session = app.loaded(session_id)
    except SessionNotFound:
        return
    if session is None or app.services.store.holds(session_id):
        return
    stopping = asyncio.create_task(session.stop("takeOver"), name=f"taken:{session_id}")
    session.use(stopping, app.services.clock.monotonic())
