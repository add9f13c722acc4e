"""The MCP servers of a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gemini_companion.wiring.late import late
from gemini_companion.wiring.places import data_directory

if TYPE_CHECKING:
    from gemini_companion.sessions.application import Application
    from gemini_companion.sessions.mcp.port import Connector
    from gemini_companion.sessions.mcp.service import McpService
    from gemini_companion.settings.service import SettingsService


def build_servers(
    env: Mapping[str, str], settings: SettingsService, app: Callable[[], Application | None]
) -> McpService:
    """Their service; the SDK is loaded with the first server that is started."""
    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.mcp.choices import ChoicesInFile
    from gemini_companion.sessions.events import McpServersChanged, SlashCommandsChanged
    from gemini_companion.sessions.mcp.service import McpService

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
        late(lambda: _connector(env)),
        clock=SystemClock(),
        options=lambda: settings.current.mcp,
        trusted=settings.is_trusted,
        folders=folders,
        choices=ChoicesInFile(data_directory(env)),
        on_news=tell,
        on_prompts=tell_of_prompts,
    )


def _connector(env: Mapping[str, str]) -> Connector:
    from gemini_companion.adapters.mcp.connector import McpConnector

    return McpConnector(env, folder=data_directory(env))
