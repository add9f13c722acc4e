"""The one number of a session, in listings and once it is open, also after a restart."""

from __future__ import annotations

from gemini_companion.engine.history.appending import only_appends
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import ConstraintEntry, Entry, ResumeEntry
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.counters import RULES_OF_COUNTING
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.kept_counts import KeptTokens
from gemini_companion.sessions.services import Services


def is_surrounded(environment: Content | None, services: Services) -> bool:
    """Whether a session's number has what stands ahead of the conversation: that of one that is merely held has not."""
    return environment is not None or not services.with_environment


def kept_tokens(ledger: TokenLedger, history: History, model: str) -> KeptTokens | None:
    """What is kept beside a session's number; `None` where the API counted nothing of this view."""
    memory = ledger.memory(model, history.epoch)
    return memory and KeptTokens(version=history.version, rules=RULES_OF_COUNTING, memory=memory)


def count_on(ledger: TokenLedger, history: History, kept: KeptTokens | None) -> None:
    """Count on from where the number was kept, if the view has only grown since: what the API counted still holds."""
    if kept is None or kept.rules != RULES_OF_COUNTING or kept.version > history.version:
        return
    if all(map(_leaves_what_was_counted, history.entries.since(kept.version + 1))):
        ledger.recall(kept.memory, history.epoch)


def _leaves_what_was_counted(entry: Entry) -> bool:
    """Opened again, a session is told anew what stands ahead of it and what the editor shows; that is estimated."""
    is_opening = isinstance(entry, ResumeEntry) and entry.reason != "clear"
    return is_opening or isinstance(entry, ConstraintEntry) or only_appends(entry)
