"""The shapes of the subagents' part of the protocol."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.agents.definition import AgentSource


class AgentInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A subagent that can be called, or a file that defines none."""

    name: str
    description: str = ""
    display_name: str = ""
    source: AgentSource = "builtIn"
    path: str | None = None
    """Absolute path of its file."""
    tools: tuple[str, ...] = ()
    """Names of the tools that it may call now."""
    model: str = ""
    """Empty for the chat's."""
    max_turns: int = 0
    timeout_minutes: float = 0.0
    enabled: bool = True
    problem: str = ""
    """What is wrong with the file, with the line."""
    line: int = 0
    """Of the problem, from 1."""


class AgentList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The subagents, those that can be called first."""

    agents: tuple[AgentInfo, ...]
