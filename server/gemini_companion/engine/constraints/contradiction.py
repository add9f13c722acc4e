"""Which rule in force a new one contradicts."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_companion.engine.history.constraint import Constraint


def contradicted(text: str, standing: Sequence[Constraint]) -> Constraint | None:
    """The newest rule in force that a new one contradicts, `None` if there is none."""
    return None
