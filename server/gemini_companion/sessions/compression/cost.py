"""What compressing now would cost and save."""

from __future__ import annotations

from gemini_companion.engine.history.verdict import Verdict
from gemini_companion.sessions.session import Session

_NOTHING = Verdict(is_worth_it=False, message="There is nothing to compress yet.")


def verdict_now(session: Session) -> Verdict:
    """The verdict on compressing now, an estimate from the session's numbers; no model is asked."""
    choice = session.choice()
    strategy = session.services.settings().compression_strategy
    return session.costs(choice).estimate(session.token_count(choice).tokens, session.parts(), strategy) or _NOTHING
