"""The session's mode: what its tools may do unasked."""

from __future__ import annotations

from gemini_companion.engine.history.tool_entries import Mode, ModeEntry
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import ModeChanged


def mode_of(session: Session) -> Mode:
    """What a person chose last for the session, else what the settings say."""
    return session.mode


async def set_mode(session: Session, mode: Mode) -> None:
    """Choose a mode, also while a turn runs: it holds for every decision from now on. Raises `StorageFault`."""
    if session.tools_state.chosen_mode == mode:
        return
    before, stamp = mode_of(session), session.stamp()
    await session.append(lambda seq: ModeEntry(**stamp, seq=seq, mode=mode))
    if mode != before:
        session.emit(ModeChanged(mode=mode))
