"""`AgentService`: which subagents there are, read anew where their files have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

import msgspec

from gemini_companion.engine.agents.builtin import BUILT_IN
from gemini_companion.engine.agents.definition import AgentDefinition, AgentFault, parse_agent
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.agents.port import AgentFile, AgentFiles, NoAgentFiles
from gemini_companion.sessions.agents.results import AgentInfo
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.settings.effective import AgentOverride, Settings
from gemini_companion.tools.tool import Tool

Create: TypeAlias = Callable[[SessionMeta, Sequence[Entry]], AbstractAsyncContextManager[Any]]
"""Makes a session of an agent, held by this process. Nothing of it stays if the block does not end."""

MOST_LISTED = 64
"""Agents that the model is told of."""


class AgentService:
    """The agents of one process. Nothing is read before it is asked for."""

    def __init__(
        self,
        files: AgentFiles | None = None,
        *,
        settings: Callable[[], Settings],
        folders: Callable[[], Sequence[str]] = tuple,
        trusted: Callable[[], bool] = lambda: False,
        tools: Callable[[], Sequence[Tool[Any]]] = tuple,
    ) -> None:
        self._files = files or NoAgentFiles()
        self._settings = settings
        self._folders = folders
        self._trusted = trusted
        self._tools = tools
        self._read: tuple[AgentFile, ...] | None = None
        self._found: dict[str, AgentDefinition] = {}
        self._broken: tuple[AgentInfo, ...] = ()
        self.create: Create | None = None
        """Set by the application."""

    async def known(self) -> tuple[AgentDefinition, ...]:
        """The agents that can be called now, as their files and the settings say, in the order of their names."""
        if self.create is None or not self._settings().agents_enabled:
            return ()
        await self._look()
        overrides = self._settings().agent_overrides
        usable = (_overridden(one, overrides.get(one.name)) for one in self._found.values())
        return tuple(sorted((one for one in usable if one is not None), key=lambda one: one.name))[:MOST_LISTED]

    async def listed(self) -> tuple[AgentInfo, ...]:
        """The same for people, with those that are turned off, and the files that are no agents."""
        known = {one.name: one for one in await self.known()}
        off = [one for one in self._found.values() if one.name not in known]
        return (
            *(self._info(one, is_on=True) for one in known.values()),
            *(self._info(one, is_on=False) for one in off),
            *self._broken,
        )

    async def _look(self) -> None:
        files = await self._files.read(self._folders(), trusted=self._trusted())
        if files is self._read:
            return
        found = {one.name: one for one in BUILT_IN}
        broken: list[AgentInfo] = []
        names = [(tool.name, *tool.aliases) for tool in self._tools()]
        for file in files:
            if file.fault:
                broken.append(_broken(file, file.fault, 1))
                continue
            try:
                agent = await asyncio.to_thread(parse_agent, file.text, path=file.path, source=file.source, tools=names)
            except AgentFault as fault:
                broken.append(_broken(file, fault.message, fault.line))
                continue
            if agent.name in found:
                other = found[agent.name].path or "built in"
                broken.append(_broken(file, f"There is an agent {agent.name} already: {other}.", 1))
                continue
            found[agent.name] = agent
        self._read, self._found, self._broken = files, found, tuple(broken)

    def _info(self, one: AgentDefinition, *, is_on: bool) -> AgentInfo:
        return AgentInfo(
            name=one.name,
            description=one.description,
            display_name=one.title,
            source=one.source,
            path=one.path,
            tools=tuple(tool.name for tool in self._tools() if may_call(one, tool)),
            model=one.model,
            max_turns=one.max_turns,
            timeout_minutes=one.timeout_minutes,
            enabled=is_on,
        )


NOT_FOR_AGENTS = frozenset({"exit_plan_mode", "save_memory"})
"""Tools that act on the chat, or on all later ones."""


def may_call(agent: AgentDefinition, tool: Tool[Any]) -> bool:
    """Whether an agent has a tool: never one that calls agents."""
    return tool.risk != "agent" and tool.name not in NOT_FOR_AGENTS and agent.has_tool(tool.name, tool.aliases)


def _overridden(one: AgentDefinition, override: AgentOverride | None) -> AgentDefinition | None:
    if override is None:
        return one
    if override.enabled is False:
        return None
    return msgspec.structs.replace(
        one,
        model=override.model or one.model,
        max_turns=override.max_turns or one.max_turns,
        timeout_minutes=override.timeout_minutes or one.timeout_minutes,
    )


def _broken(file: AgentFile, problem: str, line: int) -> AgentInfo:
    name = file.path.replace("\\", "/").rpartition("/")[2].removesuffix(".md")
    return AgentInfo(name=name, source=file.source, path=file.path, enabled=False, problem=problem, line=line)
