"""What a subagent's session has of what all sessions share: its own tools and limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from gemini_companion.engine.agents.definition import AgentCall
from gemini_companion.sessions.agents.service import may_call
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.services import Services
from gemini_companion.settings.effective import Settings
from gemini_companion.tools.registry import ToolRegistry


def services_of(services: Services, meta: SessionMeta) -> Services:
    """The services of a session: those of all, or of an agent's session what its definition leaves of them."""
    if meta.agent is None:
        return services
    definition = meta.agent.definition
    tools = ToolRegistry([tool for tool in services.tools if may_call(definition, tool)])
    return replace(services, tools=tools, settings=_limited(services.settings, meta.agent), agents=None)


def _limited(settings: Callable[[], Settings], agent: AgentCall) -> Callable[[], Settings]:
    """The settings in force with the agent's limits; its task is no person's word, so no rules are found in it."""
    made: list[tuple[Settings, Settings]] = []

    def current() -> Settings:
        now = settings()
        if not made or made[0][0] is not now:
            own = msgspec.structs.replace(
                now,
                tool_max_rounds=agent.definition.max_turns,
                max_session_turns=None,
                compression_constraints="off",
            )
            made[:] = [(now, own)]
        return made[0][1]

    return current
