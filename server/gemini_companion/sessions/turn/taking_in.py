"""What a turn takes in before its first request, new or gone on with."""

from __future__ import annotations

from gemini_companion.sessions.constraints.project import take_in_project_rules
from gemini_companion.sessions.context.environment import refresh_environment
from gemini_companion.sessions.context.memory import take_in_memory
from gemini_companion.sessions.context.servers import take_in_servers
from gemini_companion.sessions.session import Session


async def take_in_changes(session: Session) -> None:
    """Take in the project's rules, the tools of servers, memory, and the environment, as they are now."""
    await take_in_project_rules(session)
    await take_in_servers(session)
    await take_in_memory(session)
    await refresh_environment(session)
