"""The port of agent files: what is needed of the disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gemini_companion.engine.agents.definition import AgentSource


class AgentFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that may define an agent."""

    path: str
    """Absolute."""
    source: AgentSource
    text: str = ""
    fault: str = ""
    """Why it could not be read; empty if it could."""


class AgentFiles(Protocol):
    """The files of the user, of the extensions, and of the workspace folders."""

    async def read(self, folders: Sequence[str], *, trusted: bool) -> tuple[AgentFile, ...]:
        """All of them as they are now, those that count first at the front; the same object if none has changed.

        `folders` are absolute paths; without trust the user's own alone are looked at. Bounded; raises nothing.
        """
        ...


class NoAgentFiles:
    """`AgentFiles` where only the built-in agents are."""

    async def read(self, folders: Sequence[str], *, trusted: bool) -> tuple[AgentFile, ...]:
        """None."""
        return ()
