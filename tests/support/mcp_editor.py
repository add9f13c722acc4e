"""MCP servers of the settings, as an editor over stdio has them."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.editor_client import Editor
from tests.support.patience import PATIENCE

SERVER = str(Path(__file__).resolve().parent / "mcp_server.py")


def a_server(*behaviours: str, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [SERVER, *behaviours], **more}


def configure(folder: Path, servers: dict[str, Any], **more: Any) -> None:
    (folder / ".gemini").mkdir(parents=True, exist_ok=True)
    (folder / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": servers, **more}), "utf-8")


async def states(spoken: Editor) -> dict[str, str]:
    return {one["name"]: one["state"] for one in (await spoken.ask("gemini/mcp/list"))["servers"]}


async def started(spoken: Editor, *servers: str) -> None:
    """Have servers started ahead of a turn, which would wait for them only a few seconds."""
    if not spoken.events:
        await spoken.ask("gemini/session/new")  # events are those of a session
    for server in servers:
        await spoken.ask("gemini/mcp/restart", {"server": server})
    for server in servers:
        await until(spoken, server, "ready")


async def until(spoken: Editor, name: str, *wanted: str) -> dict[str, Any]:
    """Wait until a server stands there; its entry of the last event."""
    async with asyncio.timeout(PATIENCE):
        count = 1
        while True:
            event = await spoken.wait_for("mcpServersChanged", count)
            found = next(one for one in event["servers"] if one["name"] == name)
            if found["state"] in wanted:
                return found
            count += 1
