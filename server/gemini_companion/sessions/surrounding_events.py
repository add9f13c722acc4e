"""The events of what surrounds chats, told to every chat that is open."""

from __future__ import annotations

from gemini_companion.sessions.event import SessionEvent
from gemini_companion.sessions.mcp.results import McpServerState


class MemoryChanged(SessionEvent, tag="memoryChanged", frozen=True, kw_only=True):
    """Memory files changed; absolute paths."""

    paths: tuple[str, ...]


class SlashCommandsChanged(SessionEvent, tag="slashCommandsChanged", frozen=True, kw_only=True):
    """There are other slash commands than before."""


class SkillsChanged(SessionEvent, tag="skillsChanged", frozen=True, kw_only=True):
    """There are other skills than before."""


class McpServersChanged(SessionEvent, tag="mcpServersChanged", frozen=True, kw_only=True):
    """MCP servers were started, ended, failed, or offer other tools: all of them, by name."""

    servers: tuple[McpServerState, ...]


class SettingsChanged(SessionEvent, tag="settingsChanged", frozen=True, kw_only=True):
    """Settings changed; dotted keys."""

    keys: tuple[str, ...]


class TrustChanged(SessionEvent, tag="trustChanged", frozen=True, kw_only=True):
    """The workspace became trusted, or ceased to be."""

    trusted: bool
