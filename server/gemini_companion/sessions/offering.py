"""Which tools the model is told of."""

from __future__ import annotations

from typing import Any, Final

from gemini_companion.engine.history.tool_entries import Mode
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.services import Services
from gemini_companion.tools.notes.activate_skill import ACTIVATE_SKILL
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import Risk
from gemini_companion.tools.web import NAMES

_HARMLESS: Final[frozenset[Risk]] = frozenset({"read", "question", "note", "agent"})
"""What tools may do in a workspace that is not trusted."""

_PLANNING: Final[frozenset[Risk]] = frozenset((*_HARMLESS, "command"))
"""And while the session plans: of commands, those run that only read."""

_OF_PLANNING: Final = frozenset({"exit_plan_mode"})
"""Tools that mean nothing outside of the mode `plan`."""


class Offering:
    """The declarations of one session's requests, and their tokens. Equal offers are the same object."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tools: ToolRegistry | None = None
        self._made: dict[frozenset[str], tuple[dict[str, Any], ...]] = {}

    def declarations(
        self, choice: ModelChoice, mode: Mode, tools: ToolRegistry, *, has_skills: bool = False
    ) -> tuple[dict[str, Any], ...]:
        """The function declarations for this model; none if it calls no tools, or if there is nothing to call."""
        services = self._services
        if services.ports is None or not choice.provider.capabilities.calls_tools:
            return ()
        if not services.settings().tools.enabled:
            return ()
        hidden = hidden_tools(services, mode, tools)
        if not choice.provider.capabilities.grounds:
            hidden |= NAMES
        if not has_skills:
            hidden |= {ACTIVATE_SKILL}
        if self._tools is not tools:
            self._tools, self._made = tools, {}
        if hidden not in self._made:
            self._made[hidden] = tools.declarations(hidden)
        offered = services.models.accepted(self._made[hidden])
        if len(offered) == len(self._made[hidden]):
            return self._made[hidden]
        names = hidden | {one["name"] for one in self._made[hidden]} - {one["name"] for one in offered}
        return self._made.setdefault(names, offered)


def hidden_tools(services: Services, mode: Mode, tools: ToolRegistry) -> frozenset[str]:
    """Names of the tools that the model is not told of: they could not do anything now."""
    useful = _PLANNING if mode == "plan" else None
    useful = useful if services.trusted() else _HARMLESS
    hidden = {tool.name for tool in tools if useful is not None and tool.risk not in useful}
    if services.agents is None or not services.settings().agents_enabled:
        hidden |= {tool.name for tool in tools if tool.risk == "agent"}
    core = services.settings().tools.core
    if core is not None:
        from gemini_companion.tools.policy.decide import NOT_OF_CORE

        hidden |= {
            tool.name for tool in tools if tool.risk not in NOT_OF_CORE and core.isdisjoint((tool.name, *tool.aliases))
        }
    return frozenset(hidden if mode == "plan" else hidden | (_OF_PLANNING & {tool.name for tool in tools}))
