"""Servers that answer in this process, at the port `Connector`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from gemini_companion.engine.mcp.config import ServerDefinition
from gemini_companion.sessions.mcp.port import Link, Lists, Surroundings


class ScriptedLink:
    """A server with these tools, each with empty results, and these prompts, each of which says its name and arguments.

    While `may_close` is clear, ending it takes for ever.
    """

    title = "scripted 1"

    def __init__(self, tools: list[Any], prompts: list[Any], around: Surroundings) -> None:
        self.tools = tools
        self.prompts = prompts
        self.around = around
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.may_close = asyncio.Event()
        self.may_close.set()
        self.closing = asyncio.Event()

    async def list(self, what: Lists) -> list[Any]:
        return {"tools": self.tools, "prompts": self.prompts, "resources": []}[what]

    async def call(
        self, tool: str, args: Mapping[str, Any], *, seconds: float, progress: Callable[[str], None]
    ) -> Mapping[str, Any]:
        return {"content": []}

    async def prompt(self, name: str, args: Mapping[str, str]) -> Mapping[str, Any]:
        if name == "silent":
            return {"messages": []}
        return {"messages": [{"role": "user", "content": {"type": "text", "text": f"{name} {dict(args)}"}}]}

    async def read(self, uri: str) -> Mapping[str, Any]:
        return {}

    async def close(self) -> None:
        self.closing.set()
        await self.may_close.wait()
        if not self.closed.done():
            self.closed.set_result("stopped")


class ScriptedConnector:
    """Reaches servers that all have these tools and prompts; keeps what it reached."""

    def __init__(self, tools: list[Any], prompts: list[Any] | None = None) -> None:
        self.tools = tools
        self.prompts = prompts or []
        self.links: list[ScriptedLink] = []

    async def connect(self, server: ServerDefinition, around: Surroundings) -> Link:
        self.links.append(link := ScriptedLink(self.tools, self.prompts, around))
        return link

    def forget_login(self, server: ServerDefinition) -> None:
        """There is none."""
