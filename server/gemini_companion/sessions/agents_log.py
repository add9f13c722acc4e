"""What a store says of the work that a chat's subagents did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gemini_companion.engine.history.log import Entry


class AgentsLog(Protocol):
    """A part of `SessionStore`."""

    async def logged_by_agents(self, session_id: str) -> Sequence[Entry]:
        """Read what the logs of a chat's own subagents say of requests to models and of changes: `ModelCallEntry` and
        `ChangeEntry` alone, each log's in order. Raises `StorageFault`.
        """
        ...
