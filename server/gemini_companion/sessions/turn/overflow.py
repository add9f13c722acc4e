"""Whether a prompt still fits into the window."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.history.content import Content
from gemini_companion.sessions.context.ide import DueContext
from gemini_companion.sessions.events import ContextWindowWillOverflow
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session

OVERFLOW_SHARE: Final = 0.95
"""Share of what is left of the window that a prompt with its IDE context may take (Gemini CLI's 95 % rule)."""


def overflow_of(
    session: Session, choice: ModelChoice, content: Content, due: DueContext
) -> ContextWindowWillOverflow | None:
    """The event to emit if prompt, attached files and IDE context exceed 95 % of what is left of the window."""
    tokens = session.ledger.measure(content).tokens + due.tokens(session)
    estimated = session.ledger.estimate_text(choice.name, tokens)
    remaining = session.limit(choice) - session.token_count(choice).tokens
    if estimated <= OVERFLOW_SHARE * remaining:
        return None
    return ContextWindowWillOverflow(estimated_request_token_count=estimated, remaining_token_count=max(0, remaining))
