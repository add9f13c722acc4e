"""What clients get of MCP servers."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from gemini_companion.engine.mcp.config import Transport

ServerState: TypeAlias = Literal[
    "off",
    "starting",
    "ready",
    "restarting",
    "failed",
    "loginNeeded",
    "consentNeeded",
    "disabled",
    "excluded",
    "held",
    "untrusted",
]
"""`off` until a turn wants it; `restarting` after it ended by itself; `consentNeeded` while nobody has agreed to
what the workspace wants to start; `excluded` by `mcp.allowed` or `mcp.excluded`; `held`
while the settings file that defines it cannot be read and it needs a secret of that.
"""


class McpToolInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool of a server."""

    name: str
    """As models call it, and as rules name it."""
    wire_name: str
    """As the server calls it."""
    description: str


class McpResourceInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A resource of a server, which a prompt mentions by `@server:uri`."""

    mention: str
    """With the sign."""
    name: str
    description: str


class McpServerInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A server."""

    name: str
    state: ServerState
    source: str
    """The layer of the settings that it is from."""
    is_personal: bool
    """The user's own settings name it; else the workspace's do."""
    transport: Transport
    command: str
    """What is started or reached with all that goes along, whole and quoted as for bash, signs that cannot be seen
    written out. What the user's own settings hold is named by where it comes from: this is all that an agreement is to.
    """
    digest: str
    """What an agreement is about: another one after every change of the definition."""
    is_trusted: bool
    """Its tools are called unasked."""
    can_log_in: bool
    warnings: tuple[str, ...] = ()
    """What may deceive in `command`, for whoever is to agree: a sentence each."""
    title: str = ""
    """What it says that it is."""
    error: str = ""
    """What went wrong last, in sentences; empty if nothing did."""
    restarts: int = 0
    tools: tuple[McpToolInfo, ...] = ()
    prompts: int = 0
    """How many it offers, each a slash command of scope `server` in `gemini/commands/list`."""
    resources: int = 0


class McpList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The servers that the settings name, by name, and what of the settings is malformed."""

    servers: tuple[McpServerInfo, ...]
    problems: tuple[str, ...] = ()


class McpLog(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest lines of a server's log, oldest first."""

    lines: tuple[str, ...]


class McpCompletions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Resources of the servers that answer, those first that fit what was typed best."""

    resources: tuple[McpResourceInfo, ...]


class McpServerState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a server stands."""

    name: str
    state: ServerState
    tools: int = 0
    error: str = ""
