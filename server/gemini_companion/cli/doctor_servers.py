"""The rows of `doctor` about MCP servers: each of the user's own is started once, and ended again."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Mapping
from typing import Final

from gemini_companion.cli.checks import Check
from gemini_companion.engine.mcp.config import ServerDefinition, ServerOptions
from gemini_companion.engine.mcp.listed import listed_tools
from gemini_companion.sessions.mcp.port import Connector, McpFault, Surroundings

START_SECONDS: Final = 60.0


async def server_checks(env: Mapping[str, str], options: ServerOptions) -> list[Check]:
    """What is wrong with the settings, and how each server answers; nothing where there is none."""
    checks = [Check(name="mcp", verdict="warning", detail=problem) for problem in options.problems]
    if not options.servers:
        return checks
    from gemini_companion.adapters.mcp.choices import ChoicesInFile
    from gemini_companion.adapters.mcp.connector import McpConnector
    from gemini_companion.sessions.mcp.listing import warnings_of_server
    from gemini_companion.wiring.places import data_directory

    disabled = frozenset(ChoicesInFile(data_directory(env)).read().disabled)
    connector = McpConnector(env, folder=data_directory(env))
    checks += [
        Check(name="mcp", verdict="ok", detail=f"{one.name}: off (disabled, or left out by the settings)")
        for one in options.servers
        if one.name in disabled or not options.uses(one.name)
    ]
    checks += [
        Check(name="mcp", verdict="warning", detail=f"{one.name}: {one.held}") for one in options.servers if one.held
    ]
    checks += [
        Check(name="mcp", verdict="warning", detail=f"{one.name}: {warning}")
        for one in options.servers
        for warning in warnings_of_server(one)
    ]
    wanted = [one for one in options.servers if not one.held and one.name not in disabled and options.uses(one.name)]
    return checks + await asyncio.gather(*(_check(connector, one) for one in wanted))


async def _check(connector: Connector, server: ServerDefinition) -> Check:
    log: deque[str] = deque(maxlen=3)
    around = Surroundings(cwd=os.getcwd(), on_log=log.append, on_changed=lambda _: None)
    begun = time.monotonic()
    try:
        async with asyncio.timeout(START_SECONDS):
            link = await connector.connect(server, around)
            try:
                tools, problems = listed_tools(server, await link.list("tools"))
            finally:
                await link.close()
    except McpFault as fault:
        if fault.kind == "loginNeeded":
            return Check(name="mcp", verdict="warning", detail=f"{server.name}: {fault.message}")
        said = f"It wrote last: {' / '.join(log)}" if log else "It wrote nothing about it."
        return Check(name="mcp", verdict="failed", detail=f"{server.name}: {fault.message}", hint=said)
    except TimeoutError:
        return Check(
            name="mcp", verdict="failed", detail=f"{server.name} did not answer within {START_SECONDS:g} seconds."
        )
    return Check(
        name="mcp",
        verdict="warning" if problems else "ok",
        detail=f"{server.name}: {link.title or 'answers'}, {len(tools)} tools ({time.monotonic() - begun:.1f} s)",
        hint=" ".join(problems),
    )
