"""What tests of MCP servers over stdio say to the daemon: servers in settings, questions answered, states waited for."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final

from tests.support.editor_client import Editor, plain
from tests.support.emulator import Reply, answer, call
from tests.support.patience import PATIENCE

SERVER: Final = str(Path(__file__).resolve().parent / "mcp_server.py")
OPTIONS: Final[dict[str, Any]] = {"trusted": True, "supports": ["confirmTool"]}


def a_server(*behaviours: str, **more: Any) -> dict[str, Any]:
    """A definition of the tests' own server, over stdio."""
    return {"command": sys.executable, "args": [SERVER, *behaviours], **more}


def configure(folder: Path, servers: dict[str, Any], **more: Any) -> None:
    """Write a settings file that names these servers: of a home, or of a workspace."""
    (folder / ".gemini").mkdir(parents=True, exist_ok=True)
    (folder / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": servers, **more}), "utf-8")


def answering(spoken: Editor, outcome: str = "once", **more: Any) -> list[dict[str, Any]]:
    """Answers every question, and keeps them."""
    asked: list[dict[str, Any]] = []

    async def confirm(params: Any) -> dict[str, Any]:
        asked.append(plain(params))
        return {"outcome": outcome, **more}

    spoken.client.feature("gemini/confirmTool")(confirm)
    return asked


def echo(text: str, name: str = "mcp_tester_echo", call_id: str = "c") -> Reply:
    """An answer that calls a server's `echo`."""
    return answer(call(name, {"text": text}, call_id=call_id))


async def states(spoken: Editor) -> dict[str, str]:
    """Where each server stands, by name."""
    return {one["name"]: one["state"] for one in (await spoken.ask("gemini/mcp/list"))["servers"]}


async def started(spoken: Editor, *servers: str) -> None:
    """Have servers started ahead of a turn, which would wait for them only a few seconds."""
    if not spoken.events:
        await spoken.ask("gemini/session/new")  # events are those of a session
    for server in servers:
        await spoken.ask("gemini/mcp/restart", {"server": server})
    for server in servers:
        await until(spoken, server, "ready")


async def until(spoken: Editor, name: str, *wanted: str, after: str = "") -> dict[str, Any]:
    """Wait until a server stands there, once it has stood at `after`; its entry of the last event."""
    async with asyncio.timeout(PATIENCE):
        count = 1
        while True:
            event = await spoken.wait_for("mcpServersChanged", count)
            found = next(one for one in event["servers"] if one["name"] == name)
            if found["state"] == after:
                after = ""
            if not after and found["state"] in wanted:
                return found
            count += 1
