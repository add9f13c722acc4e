"""The only module that knows protocol, adapters and sessions: here they are introduced to each other.

What it needs is imported where it is used: on the way to `initialize` only the protocol's own modules are loaded.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_companion import __version__
from gemini_companion.engine.errors import CompanionError, InvalidSettings

if TYPE_CHECKING:
    from gemini_companion.adapters.storage.store import SqliteStore
    from gemini_companion.protocol.connection import Connection
    from gemini_companion.protocol.host import Host
    from gemini_companion.protocol.server import CompanionServer
    from gemini_companion.sessions.application import Application
    from gemini_companion.sessions.ports import ModelClient, SessionStore
    from gemini_companion.sessions.services import Models, Services
    from gemini_companion.settings.effective import Settings
    from gemini_companion.settings.load import SettingsLoader

logger = logging.getLogger(__name__)

PROTOCOL_VERSION = "1"
DAY_MS = 24 * 60 * 60 * 1000


def data_directory(env: Mapping[str, str]) -> Path:
    """Where sessions and private files live: `COMPANION_DATA_DIR`, else the platform's user data directory."""
    named = env.get("COMPANION_DATA_DIR", "").strip()
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("gemini-companion", appauthor=False)


def home_directory(env: Mapping[str, str]) -> Path:
    """The user's home."""
    return Path(env.get("HOME") or os.path.expanduser("~"))


def new_id(kind: str) -> str:
    """An id that begins with what it is of."""
    return f"{kind}-{uuid.uuid4().hex}"


def build_models(env: Mapping[str, str]) -> Models:
    """Gemini where the environment has credentials, and the built-in model."""
    from gemini_companion.adapters.gemini.options import from_environment
    from gemini_companion.adapters.offline.client import OfflineModelClient
    from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
    from gemini_companion.sessions.services import Models

    options = from_environment(env)
    gemini: ModelClient | None = None
    if options is not None:
        from gemini_companion.adapters.gemini.client import GeminiModelClient

        gemini = GeminiModelClient(options)
    return Models(offline=OfflineModelClient(count_text=LexicalTokenCounter().count_text), gemini=gemini)


def build_services(
    env: Mapping[str, str],
    *,
    store: SessionStore,
    settings: Callable[[], Settings],
    models: Models | None = None,
    system_prompt: Callable[[], str | None] = lambda: None,
    trusted: Callable[[], bool] = lambda: False,
    with_environment: bool = True,
) -> Services:
    """What every session shares."""
    import platform

    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.workspace.disk import DiskWorkspace
    from gemini_companion.protocol.errors import describe
    from gemini_companion.sessions.services import Services

    return Services(
        store=store,
        clock=SystemClock(),
        models=models or build_models(env),
        workspace=DiskWorkspace(),
        settings=settings,
        new_id=new_id,
        new_nonce=lambda: secrets.token_hex(8),
        environment=env,
        system_prompt_override=system_prompt,
        today=_today,
        platform=platform.system() or "unknown",
        trusted=trusted,
        describe_fault=describe,
        with_environment=with_environment,
    )


class Daemon:
    """One process: the application, its settings, and the connections that share them."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._home = home_directory(env)
        self._editor_section: dict[str, Any] | None = None
        self._told_problems: set[str] = set()
        self._connections: list[Connection] = []
        self._hosts: dict[Connection, Host] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None
        self._app: Application | None = None
        self._loader: SettingsLoader
        self._settings: Settings
        self._store: SqliteStore

    def create_server(self) -> CompanionServer:
        """A server for one client."""
        from gemini_companion.protocol.door import create_server

        return create_server(
            version=__version__, protocol_version=PROTOCOL_VERSION, host=self._host, on_ready=self._on_ready, on_close=self._on_close
        )

    def _host(self, connection: Connection) -> Host:
        """The application's side of a connection."""
        from gemini_companion.protocol.host import Host, folders_of

        self._connections.append(connection)
        self._hosts[connection] = host = Host(
            self._application(folders_of(connection)),
            new_client_id=partial(new_id, "client"),
            on_workspace=self._on_workspace,
            on_editor_settings=self._on_editor_settings,
        )
        return host

    def _application(self, folders: Sequence[str]) -> Application:
        """The application; made for the first client, whose workspace names the project."""
        if self._app is None:
            from gemini_companion.adapters.clock import SystemClock
            from gemini_companion.adapters.storage.store import open_store, project_key
            from gemini_companion.sessions.application import Application
            from gemini_companion.settings.load import SettingsLoader

            self._loader = SettingsLoader(self._home, folders, self._env)
            self._settings = self._loader.reload(trusted=False).settings
            self._store = open_store(data_directory(self._env), project_key(folders), clock=SystemClock(), notify=self._notify_from_thread())
            services = build_services(
                self._env, store=self._store, settings=lambda: self._settings, system_prompt=self._system_prompt, trusted=self._is_trusted
            )
            self._app = Application(services)
        return self._app

    def _on_workspace(self) -> None:
        """Folders or trust changed."""
        self._reload()
        self._watch_settings()

    def _on_editor_settings(self, section: dict[str, Any] | None) -> None:
        self._editor_section = section
        self._reload()

    def _on_ready(self, connection: Connection) -> None:
        """The editor is ready: load now what was left out on the way to `initialize`."""
        self._reload()
        self._spawn(self._warm_up(), "warm-up")
        self._watch_settings()

    async def _on_close(self, connection: Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
            self._hosts.pop(connection).detach(connection)
        if self._connections:
            return
        for task in [*self._tasks, *([self._watch] if self._watch else [])]:
            task.cancel()
        if self._app is not None:
            await self._app.close()

    async def _warm_up(self) -> None:
        if self._app is None:
            return
        try:
            await self._app.services.models.warm_up()
        except CompanionError as fault:
            logger.warning("Warming up failed: %s", fault.message)
        days = self._settings.session_retention_days
        if days is not None:
            try:
                await self._store.sweep(older_than_ms=days * DAY_MS)
            except CompanionError as fault:
                logger.warning("Old sessions were not swept: %s", fault.message)

    def _reload(self) -> None:
        if self._app is None:
            return
        self._loader.move_to(self._app.folders())
        from gemini_companion.settings.load import LoadedSettings

        trusted = self._is_trusted()
        loaded = self._loader.reload(trusted, self._editor_section)
        self._settings = loaded.settings
        if self._is_trusted() != trusted:  # the user's file says which folders are trusted, and was read only now
            again = self._loader.reload(self._is_trusted(), self._editor_section)
            keys = dict.fromkeys((*loaded.changed_keys, *again.changed_keys))
            loaded = LoadedSettings(settings=again.settings, problems=again.problems, changed_keys=tuple(keys), document=again.document)
            self._settings = loaded.settings
        if loaded.changed_keys:
            self._app.tell_settings(loaded.changed_keys)
        problems = {problem.message for problem in loaded.problems}
        for problem in loaded.problems:
            if problem.message not in self._told_problems:
                self._tell_user(problem)
        self._told_problems = problems

    def _is_trusted(self) -> bool:
        from gemini_companion.settings.trust import is_trusted

        if self._app is None:
            return False
        return is_trusted(self._app.trusted(), _real_paths(self._settings.trusted_folders), _real_paths(self._app.folders()))

    def _watch_settings(self) -> None:
        from gemini_companion.adapters.watching import FileWatch

        if self._watch is not None:
            self._watch.cancel()
        watch = FileWatch(self._loader.files)

        async def changed(_: frozenset[Path]) -> None:
            self._reload()

        async def run() -> None:
            try:
                await watch.run(changed)
            except CompanionError as fault:
                logger.warning("Settings are not watched: %s", fault.message)

        self._watch = asyncio.get_running_loop().create_task(run(), name="settings-watch")

    def _system_prompt(self) -> str | None:
        from gemini_companion.settings.system_prompt import system_prompt_override

        try:
            folders = self._app.folders() if self._app else ()
            return system_prompt_override(self._env, home=self._home, workspace_folders=folders, trusted=self._is_trusted())
        except CompanionError as fault:
            self._tell_user(fault)
            return None

    def _tell_user(self, fault: CompanionError) -> None:
        message = fault.told
        kind = 2 if isinstance(fault, InvalidSettings) else 1
        for connection in self._connections:
            connection.send_notification("window/showMessage", {"type": kind, "message": message[:1_000]})

    def _notify_from_thread(self) -> Callable[[str], None]:
        loop = asyncio.get_running_loop()

        def tell(said: str) -> None:
            loop.call_soon_threadsafe(self._show, said)

        return tell

    def _show(self, said: str) -> None:
        for connection in self._connections:
            connection.send_notification("window/showMessage", {"type": 2, "message": said[:1_000]})

    def _spawn(self, work: Any, name: str) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _real_paths(folders: Sequence[str]) -> list[str]:
    """The folders' real paths; one that no system could have (a NUL in it) stays as it is and is trusted by nobody."""
    return [folder if "\0" in folder else os.path.realpath(folder) for folder in folders]


def _today() -> str:
    import datetime

    return datetime.datetime.now(tz=datetime.UTC).astimezone().strftime("%A, %d %B %Y")


def serve_stdio(env: Mapping[str, str]) -> int:
    """Serve one editor over the standard streams until it leaves. Returns the exit code."""
    from gemini_companion.protocol.transport import run_stdio

    return run_stdio(lambda: Daemon(env).create_server())
