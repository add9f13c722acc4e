"""Prompts that a turn ends without."""

from __future__ import annotations

from gemini_companion.engine.history.log import TurnOutcome
from gemini_companion.sessions.events import TurnCancelled, TurnFailed
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.steering import Steering, Untaken, untaken


class UntakenPrompts:
    """Those of one turn; none until it closes."""

    def __init__(self, session: Session, steering: Steering) -> None:
        self._session = session
        self._steering = steering
        self._prompts: list[Untaken] = []

    def close(self, outcome: TurnOutcome, reason: str = "", by: str = "") -> list[Draft]:
        """Take no more prompts; returns the entries of those that are left, which end as the turn does."""
        self._prompts = untaken(self._session, self._steering.close())
        return [draft for one in self._prompts for draft in one.drafts(self._session, outcome, reason=reason, by=by)]

    def tell(self, event: TurnCancelled | TurnFailed, model: str) -> None:
        """Emit that each began, and how it ended."""
        for one in self._prompts:
            self._session.emit(one.started(model), one.turn_id)
            self._session.emit(event, one.turn_id)
