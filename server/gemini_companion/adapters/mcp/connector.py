"""The port `Connector`: starts servers, reaches them, and loads the SDK with the first, in a thread."""

from __future__ import annotations

import asyncio
import importlib
import os
import shlex
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from gemini_companion.adapters.hooks.environment import for_others, scrubbed
from gemini_companion.adapters.mcp.logins import Logins
from gemini_companion.engine.mcp.config import ServerDefinition
from gemini_companion.sessions.mcp.port import Link, McpFault, Surroundings
from gemini_companion.settings.programs import why_not_run

_SDK: Final = "gemini_companion.adapters.mcp.link"


class McpConnector:
    """Reaches servers. `environment` is the daemon's own; servers get it without its secrets, those of a
    workspace what has a harmless name. `folder` is for what is
    kept of logins.
    """

    def __init__(self, environment: Mapping[str, str], *, folder: Path, platform: str = sys.platform) -> None:
        self._environment, self._for_others = scrubbed(environment), for_others(environment)
        self._logins = Logins(folder)
        self._platform = platform
        self._loading = asyncio.Lock()

    async def connect(self, server: ServerDefinition, around: Surroundings) -> Link:
        """Start a server, or reach it. Raises `McpFault`."""
        if server.transport == "stdio" and self._platform == "win32":
            raise McpFault("Servers that are commands cannot be started on Windows yet; those with a url can be used.")
        async with self._loading:  # it takes a second or two, and the daemon answers meanwhile
            await asyncio.to_thread(importlib.import_module, _SDK)
        from gemini_companion.adapters.mcp.link import open_link

        if server.transport == "stdio":
            return await open_link(lambda ended: self._started(server, around, ended), around)
        from gemini_companion.adapters.mcp.remote import open_remote

        return await open_remote(server, around, self._logins)

    def forget_login(self, server: ServerDefinition) -> None:
        """Delete what is kept of a login."""
        self._logins.forget(server.url)

    def _started(
        self, server: ServerDefinition, around: Surroundings, ended: Callable[[str], None]
    ) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        environment = self._environment if server.is_personal else self._for_others
        return _process_streams(server, around, ended, environment)


@asynccontextmanager
async def _process_streams(
    server: ServerDefinition, around: Surroundings, ended: Callable[[str], None], environment: Mapping[str, str]
) -> AsyncGenerator[tuple[Any, Any]]:
    from gemini_companion.adapters.mcp.process import ServerProcess
    from gemini_companion.adapters.mcp.stdio import stdio_streams

    cwd = _folder(server, around)
    env = _environment(server, environment)
    line = shlex.join((server.command, *server.args))
    if reason := await asyncio.to_thread(why_not_run, line, (cwd, around.cwd)):
        raise McpFault(f"It is not started, for it would run {reason}.", "withheld")
    if not _can_start(server.command, cwd, env["PATH"]):
        raise McpFault(f"There is no program {server.command!r} that could be started.")
    try:
        process = await ServerProcess.start((server.command, *server.args), cwd=cwd, env=env, on_log=around.on_log)
    except (OSError, ValueError) as fault:
        raise McpFault(f"It could not be started: {fault}.") from None
    try:
        async with stdio_streams(process, around.on_log, ended) as streams:
            yield streams
    finally:
        await asyncio.shield(process.stop())


def _folder(server: ServerDefinition, around: Surroundings) -> str:
    """What it is started in."""
    return os.path.join(around.cwd, os.path.expanduser(server.cwd)) if server.cwd else around.cwd


def _environment(server: ServerDefinition, environment: Mapping[str, str]) -> dict[str, str]:
    """Its environment. A relative folder of PATH would be whatever the server is started in: it goes."""
    env = {**environment, "GEMINI_CLI": "1", "GEMINI_COMPANION": "1", **server.env}
    folders = (folder for folder in env.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder))
    return {**env, "PATH": os.pathsep.join(folders)}


def _can_start(command: str, cwd: str, path: str) -> bool:
    return shutil.which(os.path.join(cwd, command) if "/" in command else command, path=path) is not None
