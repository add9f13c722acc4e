"""The one number of a session, in listings and once it is open, also after a restart."""

from __future__ import annotations

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import ResumeEntry
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.counters import RULES_OF_COUNTING
from gemini_companion.engine.tokens.ledger import TokenCount, TokenLedger
from gemini_companion.sessions.kept_counts import KeptTokens
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.services import Services


def is_surrounded(environment: Content | None, services: Services) -> bool:
    """Whether a session's number has what stands ahead of the conversation: that of one that is merely held has not."""
    return environment is not None or not services.with_environment


def kept_tokens(ledger: TokenLedger, history: History, model: str) -> KeptTokens | None:
    """What is kept beside a session's number; `None` where the API has counted nothing for this model."""
    memory, rules = ledger.memory(model, history.epoch), RULES_OF_COUNTING
    return memory and KeptTokens(version=history.version, epoch=history.epoch, rules=rules, memory=memory)


def kept_count(meta: SessionMeta) -> TokenCount:
    """A session's number as it is kept."""
    kept = meta.counted
    return TokenCount(meta.token_count, "api" if kept is not None and kept.memory.measured else "estimate")


def count_on(ledger: TokenLedger, history: History, kept: KeptTokens | None) -> None:
    """Count on from where the number was kept. What the API counted holds as long as nothing but openings has raised
    the view's epoch; what its counts taught of the model holds for any view.

    Opened again, a session is told anew what stands ahead of it and what the editor shows; that is estimated.
    """
    if kept is None or kept.rules != RULES_OF_COUNTING or kept.version > history.version:
        return
    later = history.entries.since(kept.version + 1)
    openings = sum(isinstance(entry, ResumeEntry) and entry.reason != "clear" for entry in later)
    is_same_view = kept.epoch + openings == history.epoch
    ledger.recall(kept.memory, history.epoch if is_same_view else None)
