"""What reaches MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from gemini_companion.engine.mcp.config import ServerDefinition

FaultKind: TypeAlias = Literal["failed", "timedOut", "closed", "loginNeeded", "malformed", "answered", "withheld"]
Lists: TypeAlias = Literal["tools", "prompts", "resources"]


class McpFault(Exception):
    """A server could not be started or reached, or did not answer. `message` is a sentence for people."""

    def __init__(self, message: str, kind: FaultKind = "failed") -> None:
        super().__init__(message)
        self.message = message
        self.kind: FaultKind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a server is started in."""

    cwd: str
    """The workspace folder, absolute."""
    on_log: Callable[[str], None]
    """Takes a line that the server wrote for people."""
    on_changed: Callable[[Lists], None]
    """Told that a list of the server is different now."""
    show_address: Callable[[str], Awaitable[bool]] | None = None
    """Shows an address in the person's browser; `None` where nobody asked to log in, so that none is opened."""


class Link(Protocol):
    """A server that answers."""

    @property
    def title(self) -> str:
        """What it says that it is: a name and a version."""
        ...

    @property
    def closed(self) -> asyncio.Future[str]:
        """Done when the connection has ended, with the reason in a sentence."""
        ...

    async def list(self, what: Lists) -> list[Any]:
        """All of a list, as JSON, pages joined; empty where the server has none. Raises `McpFault`."""
        ...

    async def call(
        self, tool: str, args: Mapping[str, Any], *, seconds: float, progress: Callable[[str], None]
    ) -> Mapping[str, Any]:
        """Call a tool; its result as JSON. Cancelling it tells the server so. Raises `McpFault`."""
        ...

    async def prompt(self, name: str, args: Mapping[str, str]) -> Mapping[str, Any]:
        """A prompt's messages as JSON. Raises `McpFault`."""
        ...

    async def read(self, uri: str) -> Mapping[str, Any]:
        """What a resource holds, as JSON. Raises `McpFault`."""
        ...

    async def close(self) -> None:
        """End it, and everything that came of it. Raises nothing."""
        ...


class Connector(Protocol):
    """Starts servers, or reaches them."""

    async def connect(self, server: ServerDefinition, around: Surroundings) -> Link:
        """Raises `McpFault`. Cancelled, it leaves nothing running."""
        ...

    def forget_login(self, server: ServerDefinition) -> None:
        """Delete what is kept of a login."""
        ...


class NoConnector:
    """Where there are no servers."""

    async def connect(self, server: ServerDefinition, around: Surroundings) -> Link:
        """There is none."""
        raise McpFault("MCP servers cannot be used here.")

    def forget_login(self, server: ServerDefinition) -> None:
        """There is none."""
