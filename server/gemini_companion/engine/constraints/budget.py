"""How much of the rules may go along with every request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gemini_companion.engine.history.constraint import Constraint

BUDGET_CHARACTERS: Final = 16_000
"""Characters that the rules in force may have together, about 4,000 tokens; pins count, and are never refused.

So much for those of a session, its project's among them; and for those of a project, whichever session set them.
"""

BEYOND_BUDGET: Final = (
    "Only proposed: the rules in force already have as many characters as may go along with every request. Release one"
    " of them first."
)
"""What a rule is told with that was found and is not taken in."""


def is_beyond_budget(wished: Constraint, standing: Iterable[Constraint]) -> bool:
    """Whether the rules in force would be too long with this one among them, in place of what it replaces.

    Where they are too long already, what makes them no longer is not refused.
    """
    gone = (wished.constraint_id, wished.replaces)
    before = list(standing)
    return is_over_budget(before, [*(one for one in before if one.constraint_id not in gone), wished])


def is_over_budget(before: Iterable[Constraint], after: Iterable[Constraint]) -> bool:
    """Whether the rules in force are too long after a change, and longer than before it."""
    length = _length(after)
    return length > BUDGET_CHARACTERS and length > _length(before)


def _length(constraints: Iterable[Constraint]) -> int:
    return sum(len(one.text) for one in constraints if one.state == "inForce")
