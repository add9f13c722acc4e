"""The model of a session's turns, as far as this process knows."""

from __future__ import annotations

from dataclasses import dataclass

from gemini_companion.sessions.models.registry import ModelChoice


@dataclass(slots=True)
class Route:
    """The running turn keeps its model; what the turn before it had tells what has changed."""

    now: ModelChoice | None = None
    """Of the running turn."""
    before: ModelChoice | None = None
    """Of the turn before."""

    def end(self) -> None:
        """The turn is over."""
        self.before, self.now = self.now or self.before, None
