"""The events of subagents that work for a chat."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gemini_companion.sessions.event import SessionEvent

ActivityKind: TypeAlias = Literal["started", "tool", "toolEnded", "said", "compressed", "ended"]


class AgentActivity(SessionEvent, tag="agentActivity", frozen=True, kw_only=True):
    """What a subagent that works for the chat does. Its own session has everything; this is for people to follow."""

    tool_call_id: str
    """The call that handed it its task."""
    agent: str
    """Its name for people."""
    agent_session_id: str
    """Its own session, which can be opened."""
    kind: ActivityKind
    text: str = ""
    """A line: what it does, found, says, or how it ended."""
    tokens: int = 0
    """Of its own window; 0 where nothing new is known."""
