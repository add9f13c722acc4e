"""The MCP servers of a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gemini_companion.wiring.late import late, nothing, nothing_to_await
from gemini_companion.wiring.places import data_directory

if TYPE_CHECKING:
    from gemini_companion.sessions.application import Application
    from gemini_companion.sessions.commands.port import CommandSource
    from gemini_companion.sessions.mcp.service import McpService
    from gemini_companion.settings.service import SettingsService


def build_servers(
    env: Mapping[str, str], settings: SettingsService, app: Callable[[], Application | None]
) -> McpService:
    """Their service, made when a turn or a person first asks for it; the SDK is loaded with the first server that is
    started.
    """
    return late(lambda: _servers(env, settings, app), look_again=nothing, close=nothing_to_await)


def server_commands(servers: McpService) -> CommandSource:
    """The servers' prompts as slash commands."""
    from gemini_companion.sessions.mcp.commands import ServerCommands

    return ServerCommands(servers)


def _servers(env: Mapping[str, str], settings: SettingsService, app: Callable[[], Application | None]) -> McpService:
    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.mcp.choices import ChoicesInFile
    from gemini_companion.adapters.mcp.connector import McpConnector
    from gemini_companion.sessions.mcp.service import McpService
    from gemini_companion.sessions.surrounding_events import McpServersChanged, SlashCommandsChanged

    def folders() -> tuple[str, ...]:
        running = app()
        return running.folders() if running else ()

    def tell() -> None:
        if (running := app()) is not None and (service := running.services.mcp) is not None:
            running.notify_all(McpServersChanged(servers=service.states()))

    def tell_of_prompts() -> None:
        if (running := app()) is not None:
            running.notify_all(SlashCommandsChanged())

    return McpService(
        McpConnector(env, folder=data_directory(env)),
        clock=SystemClock(),
        options=lambda: settings.current.mcp,
        trusted=settings.is_trusted,
        folders=folders,
        choices=ChoicesInFile(data_directory(env)),
        on_news=tell,
        on_prompts=tell_of_prompts,
    )
