"""Which turn may be replaced by a new answer."""

from __future__ import annotations

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.sessions.session import Session


def check_replaceable(session: Session, turn_id: str) -> None:
    """Raise `InvalidInput` unless the turn is the newest one and nothing of it is hidden."""
    history = session.history
    if history.newest_turn != turn_id:
        raise InvalidInput(
            "Only the newest answer of a chat can be given anew, and this one is older.",
            path="$.replaces",
            hint="Fork the chat before that turn instead, and ask there.",
        )
    if history.is_hidden(turn_id):
        raise InvalidInput(
            "A compression hides this answer from the model, so it cannot be given anew.",
            path="$.replaces",
            hint="Undo the compression, or fork the chat before that turn instead, and ask there.",
        )
