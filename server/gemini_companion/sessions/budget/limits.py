"""How much of each budget is used: of the session, and of the day."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Final, NamedTuple

from gemini_companion.engine.errors import Blocked
from gemini_companion.engine.statistics.spending import Spent
from gemini_companion.sessions.events import BudgetScope, BudgetUnit, BudgetUsed
from gemini_companion.sessions.session import Session

WARNED_AT: Final = 0.8
"""The share of a budget at which people are told."""

_LEAST: Final[dict[BudgetUnit, float]] = {"tokens": 1, "cost": 0.000001}
"""What no request costs less than; it stands in the settings where a budget cannot be read."""

_KEYS: Final[dict[tuple[BudgetScope, BudgetUnit], str]] = {
    ("session", "tokens"): "companion.budget.sessionTokens",
    ("session", "cost"): "companion.budget.sessionCost",
    ("day", "tokens"): "companion.budget.dayTokens",
    ("day", "cost"): "companion.budget.dayCost",
}


class Use(NamedTuple):
    """How much of one budget is used."""

    scope: BudgetScope
    unit: BudgetUnit
    spent: float
    """Tokens, or US dollars."""
    limit: float

    @property
    def is_over(self) -> bool:
        """What is left of it pays for nothing: of the least limit not even a first request."""
        return self.limit - self.spent <= _LEAST[self.unit] or self.spent >= self.limit

    @property
    def sentence(self) -> str:
        """Why nothing is sent, for people."""
        what = "this chat" if self.scope == "session" else "today in this project"
        return (
            f"The budget for {what} is used up: {_amount(self.unit, self.spent)} of {_amount(self.unit, self.limit)}."
        )

    @property
    def hint(self) -> str:
        """What can be done about it."""
        other = "start a new chat" if self.scope == "session" else "wait until tomorrow"
        key = _KEYS[self.scope, self.unit]
        return f"Raise {key} in your own settings and let it go on, {other}, or choose a model on this machine."


async def uses_of(session: Session) -> list[Use]:
    """All budgets that are set, with what is used of them. Raises `StorageFault`."""
    budget = session.services.settings().budget
    limits: list[tuple[BudgetScope, float, float]] = [
        ("session", budget.session_tokens, budget.session_cost),
        ("day", budget.day_tokens, budget.day_cost),
    ]
    uses: list[Use] = []
    for scope, tokens, cost in limits:
        if not tokens and not cost:
            continue
        spent = _spent_by(session.principal) if scope == "session" else await _spent_today(session)
        uses += [Use(scope, "tokens", spent.tokens, tokens)] if tokens else []
        uses += [Use(scope, "cost", spent.cost, cost)] if cost else []
    return uses


async def over_budget(session: Session, turn_id: str | None = None) -> Use | None:
    """The budget that is used up, if one is; tells at 80 % of each, once, and when the turn is stopped by one.

    Raises `StorageFault`.
    """
    used_up: Use | None = None
    for use in await uses_of(session):
        if use.is_over:
            used_up = used_up or use
        elif use.spent >= WARNED_AT * use.limit:
            _warn(session, use, turn_id)
    if used_up is not None and turn_id is not None:
        session.emit(_event(used_up, is_stop=True), turn_id)
    return used_up


async def check_budget(session: Session) -> None:
    """The same for what is asked of a model beside a turn. Raises `Blocked`."""
    use = await over_budget(session)
    if use is not None:
        raise Blocked(use.sentence, hint=use.hint)


def midnight(now: int) -> int:
    """When the day began where this machine is; both in ms since 1970."""
    today = datetime.fromtimestamp(now / 1000, tz=UTC).astimezone().date()
    return round(datetime.combine(today, time()).astimezone().timestamp() * 1000)


def _spent_by(chat: Session) -> Spent:
    return chat.spending.spent.plus(chat.unlogged.spent_by_agents.spent)


async def _spent_today(session: Session) -> Spent:
    services = session.services
    return await services.store.spent_since(midnight(services.clock.now()))


def _warn(session: Session, use: Use, turn_id: str | None) -> None:
    told = (use.scope, use.unit, use.limit, midnight(session.services.clock.now()) if use.scope == "day" else 0)
    if told not in session.unlogged.budget_told:
        session.unlogged.budget_told.add(told)
        session.emit(_event(use, is_stop=False), turn_id)


def _event(use: Use, *, is_stop: bool) -> BudgetUsed:
    return BudgetUsed(
        scope=use.scope,
        unit=use.unit,
        spent=use.spent,
        limit=use.limit,
        outcome="stopped" if is_stop else "warned",
        setting=_KEYS[use.scope, use.unit],
    )


def _amount(unit: BudgetUnit, amount: float) -> str:
    return f"{amount:,.0f} tokens" if unit == "tokens" else f"${amount:,.2f}"
