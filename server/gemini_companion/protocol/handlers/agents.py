"""The handler of `gemini/agents/list`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Empty
from gemini_companion.sessions.agents.results import AgentList


async def list_(host: Host, params: Empty) -> AgentList:
    service = host.app.services.agents
    return AgentList(agents=() if service is None else await service.listed())
