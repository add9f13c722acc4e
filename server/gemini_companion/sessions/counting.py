"""Counting the request before and after a compression: both alike, over the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gemini_companion.engine.errors import ContextOverflow, TokenCountFailed
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import TokenCountSource
from gemini_companion.engine.tokens.ledger import RequestParts, totals_of
from gemini_companion.sessions.ports import ModelRequest
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.services import ModelChoice
from gemini_companion.sessions.session import Session


class Counts(NamedTuple):
    """Tokens of the whole request with the old view and with the new one."""

    before: int
    after: int
    source: TokenCountSource


async def count_both(session: Session, choice: ModelChoice, before: Sequence[Item], after: Sequence[Item], retries: RetryBudget) -> Counts:
    """Count both requests. IDE entries of the old view stand in both: the next turn sends the editor's state again.

    Raises `TokenCountFailed` or another `ModelFault` if the provider does not count; where it refuses the old request for its size, the
    ledger estimates both.
    """
    ide = [item for item in before if item.kind == "ide"]
    after_with_ide = [*after, *ide]
    if choice.client.provider == "offline":
        return _estimates(session, choice, before, after_with_ide)
    try:
        old = await _count(session, choice, before, retries)
    except ContextOverflow:
        return _estimates(session, choice, before, after_with_ide)
    try:
        new = await _count(session, choice, after_with_ide, retries)
    except ContextOverflow as overflow:
        raise TokenCountFailed(overflow.message) from overflow
    return Counts(old, new, "api")


def _estimates(session: Session, choice: ModelChoice, before: Sequence[Item], after: Sequence[Item]) -> Counts:
    parts = session.parts()
    due = parts.ide_context - sum(item.measure.tokens for item in before if item.kind == "ide")

    def estimate(items: Sequence[Item]) -> int:
        totals = totals_of(items)
        return session.ledger.estimate(choice.name, parts.with_totals(totals._replace(ide_context=totals.ide_context + due)))

    old, new = estimate(before), estimate(after)
    return Counts(old, new, "estimate")


async def _count(session: Session, choice: ModelChoice, items: Sequence[Item], retries: RetryBudget) -> int:
    request = ModelRequest(model=choice.name, contents=session.request_contents(items), system_instruction=session.system_instruction)
    count = await retries.run(lambda: choice.client.count_tokens(request))
    if count.total <= 0:
        raise TokenCountFailed("The provider counted no tokens at all.")
    if count.covers_system:
        return count.total
    parts: RequestParts = session.parts()
    return count.total + parts.system_instruction + parts.tools
