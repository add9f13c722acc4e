"""Handlers of `gemini/mcp/*`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.mcp_types import McpAgreeParams, McpCompleteParams, McpEnableParams, McpServerParams
from gemini_companion.protocol.methods import Empty
from gemini_companion.sessions.mcp.listing import completions, listed_servers
from gemini_companion.sessions.mcp.results import McpCompletions, McpList, McpLog
from gemini_companion.sessions.mcp.service import McpService


async def list_(host: Host, params: Empty) -> McpList:
    services = host.app.services
    return await listed_servers(_servers(host), services.settings().mcp)


async def enable(host: Host, params: McpEnableParams) -> McpList:
    await _servers(host).enable(params.server, on=params.enabled)
    return await list_(host, Empty())


async def agree(host: Host, params: McpAgreeParams) -> McpList:
    await _servers(host).agree(params.server, params.digest)
    return await list_(host, Empty())


async def restart(host: Host, params: McpServerParams) -> McpList:
    await _servers(host).restart(params.server)
    return await list_(host, Empty())


async def login(host: Host, params: McpServerParams) -> McpList:
    await _servers(host).restart(params.server, host.show_address)
    return await list_(host, Empty())


async def logout(host: Host, params: McpServerParams) -> McpList:
    await _servers(host).log_out(params.server)
    return await list_(host, Empty())


async def log(host: Host, params: McpServerParams) -> McpLog:
    return McpLog(lines=await _servers(host).log_of(params.server))


async def complete(host: Host, params: McpCompleteParams) -> McpCompletions:
    return completions(_servers(host), params.query, params.limit)


def _servers(host: Host) -> McpService:
    servers = host.app.services.mcp
    assert servers is not None  # the daemon always has it
    return servers
