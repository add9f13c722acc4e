"""The rules of a whole project, taken into its sessions as entries of their logs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from gemini_companion.engine.constraints.budget import BEYOND_BUDGET, is_beyond_budget
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.sessions.constraints.entries import draft_of
from gemini_companion.sessions.constraints.news import emit_constraints
from gemini_companion.sessions.session import Session


async def take_in_project_rules(session: Session, turn_id: str | None = None) -> None:
    """Log what the session does not know yet of the project's rules. It must be held. Raises `StorageFault`.

    A rule that somebody made this session's own is left as it is here. One for which the session's own leave no room
    is proposed with the reason, until they do.
    """
    async with session.rules_lock:
        await log_project_rules(session, turn_id)


async def take_in_first_rules(session: Session) -> None:
    """The same for a session that was made just now, and is not to fail any more: its first turn does it otherwise."""
    with suppress(StorageFault):
        await take_in_project_rules(session)


async def log_project_rules(session: Session, turn_id: str | None = None) -> None:
    """The same for a caller that has the lock of the session's rules."""
    news = _news(session, await session.services.store.constraints())
    if news:
        await session.append(*(draft_of(session, one) for one in news))
        emit_constraints(session, turn_id)


def _news(session: Session, shared: Iterable[Constraint]) -> list[Constraint]:
    """What the session is to log of the project's rules, what makes room first."""
    known = session.history.constraints
    standing = {one.constraint_id: one for one in session.history.standing}
    news: list[Constraint] = []
    for one in sorted(shared, key=lambda one: one.state == "inForce"):
        if not known.is_news(one) or (known.get(one.constraint_id) is None and one.state == "released"):
            continue
        here = one
        if one.state == "inForce" and is_beyond_budget(one, standing.values()):
            here = msgspec.structs.replace(one, state="proposed", note=BEYOND_BUDGET)
        if here.state == "inForce":
            standing.pop(here.replaces or "", None)
            standing[here.constraint_id] = here
        else:
            standing.pop(here.constraint_id, None)
        if known.is_news(here):
            news.append(here)
    return news
