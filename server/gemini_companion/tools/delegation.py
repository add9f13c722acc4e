"""The port of subagents, as the tool that calls them sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from gemini_companion.engine.agents.definition import AgentDefinition


class AgentReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a task."""

    text: str
    """For the model."""
    summary: str
    """For people, a few words."""
    is_whole: bool = True
    """False where it was stopped before it was done: by its limits, or a fault."""


class Delegation(Protocol):
    """The subagents of the session that a call is made in."""

    async def known(self) -> Sequence[AgentDefinition]:
        """Those that can be called now."""
        ...

    async def run(self, agent: AgentDefinition, task: str, begun: Callable[[str], None]) -> AgentReport:
        """Have an agent do a task; `begun` takes the id of its session. Cancelling it stops the agent. Raises
        `ToolRefusal`.
        """
        ...
