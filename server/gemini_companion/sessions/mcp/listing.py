"""The servers as a client lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemini_companion.engine.mcp.config import ServerDefinition, ServerOptions
from gemini_companion.engine.mcp.listed import ListedResource
from gemini_companion.engine.mcp.naming import spoken_name
from gemini_companion.sessions.mcp.results import (
    McpCompletions,
    McpList,
    McpResourceInfo,
    McpServerInfo,
    McpToolInfo,
)
from gemini_companion.sessions.mcp.server import McpServer
from gemini_companion.sessions.mcp.service import McpService
from gemini_companion.settings.masking import masked


async def listed_servers(service: McpService, options: ServerOptions, environment: Mapping[str, str]) -> McpList:
    """All servers of the settings. Starts none."""
    await service.settle()
    return McpList(
        servers=tuple(_info(service, one, environment) for one in options.servers), problems=options.problems
    )


def completions(service: McpService, query: str, limit: int) -> McpCompletions:
    """Resources of the servers that answer whose names have what was typed, at most `limit`."""
    wanted = query.lower().lstrip("@")
    resources = [resource_info(server, one) for server in service.running() for one in server.resources]
    named = [one for one in resources if wanted in one.mention.lower() or wanted in one.name.lower()]
    named.sort(key=lambda one: (not one.mention.lower().startswith(f"@{wanted}"), len(one.mention), one.mention))
    return McpCompletions(resources=tuple(named[:limit]))


def resource_info(server: McpServer, resource: ListedResource) -> McpResourceInfo:
    """A resource, and how a prompt mentions it."""
    name = f"{spoken_name(server.definition.name)}:{resource.uri}"
    return McpResourceInfo(
        mention=f'@"{name}"' if any(sign.isspace() for sign in name) else f"@{name}",
        name=resource.name,
        description=resource.description,
    )


def _info(service: McpService, one: ServerDefinition, environment: Mapping[str, str]) -> McpServerInfo:
    server = service.server(one.name)
    return McpServerInfo(
        name=one.name,
        state=service.hindrance(one) or (server.state if server else "off"),
        source=one.source,
        is_personal=one.is_personal,
        transport=one.transport,
        command=_shown(one, environment),
        digest=one.digest,
        is_trusted=one.is_trusted,
        can_log_in=one.transport != "stdio",
        title=server.title if server else "",
        error=server.error if server else "",
        restarts=server.restarts if server else 0,
        tools=tuple(
            McpToolInfo(name=tool.name, wire_name=tool.wire_name, description=tool.description[:300])
            for tool in (server.tools if server else ())
        ),
        prompts=len(server.prompts) if server else 0,
        resources=len(server.resources) if server else 0,
    )


def _shown(one: ServerDefinition, environment: Mapping[str, str]) -> str:
    """What is started or reached, with what goes along, in a line, secrets masked."""
    fields: dict[str, Any] = {"command": one.command, "args": list(one.args), "url": one.url}
    shown = masked(f"mcpServers.{one.name}", fields, environment)
    line = " ".join((shown["command"], *shown["args"])) if one.transport == "stdio" else shown["url"]
    extra = [f"{name}=…" for name in (one.env if one.transport == "stdio" else one.headers)]
    return " ".join(
        (line, *(f"[{' '.join(part)}]" for part in (extra,) if part), *([f"(in {one.cwd})"] if one.cwd else []))
    )
