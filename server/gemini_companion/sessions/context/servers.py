"""What MCP servers bring to a turn: tools where it begins, prompts and resources that the person names."""

from __future__ import annotations

from gemini_companion.sessions.session import Session


async def take_in_servers(session: Session) -> None:
    """Where a turn begins: what it can call, which stays the same to its end. Starts servers that are wanted."""
    services = session.services
    if services.mcp is None or not session.choice().provider.capabilities.calls_tools:
        return
    if services.settings().tools.enabled and services.trusted():
        session.tools = await services.mcp.tools_for_turn(services.tools)
    else:
        session.tools = services.tools
