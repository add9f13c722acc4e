"""The entries of a session's log that tell of its rules."""

from __future__ import annotations

from gemini_companion.engine.history.constraint import Constraint, digest_of
from gemini_companion.engine.history.log import ConstraintEntry
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session


def draft_of(session: Session, constraint: Constraint, *, by_turn: str | None = None) -> Draft:
    """The entry of a constraint, to be appended. `by_turn` is the turn whose prompt brought it about."""
    stamp, digest = session.stamp(), digest_of(constraint.text)
    return lambda seq: ConstraintEntry(**stamp, seq=seq, constraint=constraint, digest=digest, by_turn=by_turn)
