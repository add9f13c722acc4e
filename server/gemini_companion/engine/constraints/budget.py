"""How much of the rules may go along with every request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gemini_companion.engine.history.constraint import Constraint

BUDGET_CHARACTERS: Final = 16_000
"""Characters that the rules in force may have together, about 4,000 tokens; pins count, and are never refused."""

BEYOND_BUDGET: Final = (
    "Only proposed: the rules in force already have as many characters as may go along with every request. Release one"
    " of them first."
)
"""What a rule is told with that was found and is not taken in."""


def is_beyond_budget(wished: Constraint, standing: Iterable[Constraint]) -> bool:
    """Whether the rules in force would be too long with this one among them, in place of what it replaces."""
    gone = (wished.constraint_id, wished.replaces)
    used = sum(len(one.text) for one in standing if one.constraint_id not in gone)
    return used + len(wished.text) > BUDGET_CHARACTERS
