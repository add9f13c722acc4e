"""The only module that knows protocol, adapters and sessions: here they are introduced to each other.

What it needs is imported where it is used: on the way to `initialize` only the protocol's own modules are loaded.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_companion import __version__
from gemini_companion.engine.errors import CompanionError, InvalidSettings

if TYPE_CHECKING:
    from gemini_companion.adapters.processes.judging import DiskJudge
    from gemini_companion.adapters.storage.store import SqliteStore
    from gemini_companion.protocol.connection import Connection
    from gemini_companion.protocol.host import Host
    from gemini_companion.protocol.options import InitializationOptions
    from gemini_companion.protocol.server import CompanionServer
    from gemini_companion.sessions.application import Application
    from gemini_companion.sessions.memory.service import MemoryService
    from gemini_companion.sessions.models.registry import ModelRegistry
    from gemini_companion.sessions.ports import SessionStore
    from gemini_companion.sessions.services import Services
    from gemini_companion.sessions.tools.background import Commands
    from gemini_companion.sessions.tools.tooling import Tooling
    from gemini_companion.settings.effective import Settings
    from gemini_companion.settings.service import SettingsService
    from gemini_companion.tools.ports import Ports
    from gemini_companion.tools.registry import ToolRegistry


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


def build_models(env: Mapping[str, str], settings: Callable[[], Settings]) -> ModelRegistry:
    """The model adapters, a line each: the first that serves a name has it, the last answers where another cannot.

    A new one stands before Gemini's, which serves every name that none before it does.
    """
    from gemini_companion.adapters.gemini import registration as gemini
    from gemini_companion.adapters.local import registration as local
    from gemini_companion.adapters.local.file import LocalOptions
    from gemini_companion.adapters.offline import registration as offline
    from gemini_companion.sessions.models.registry import ModelRegistry

    def local_options() -> LocalOptions:
        now = settings()
        return LocalOptions(now.local_model, now.token_limit_override)

    return ModelRegistry([local.register(env, local_options), gemini.register(env), offline.register(env)])


def build_tools(commands: Commands) -> ToolRegistry:
    """What models that call tools can call, a line each; those that run commands keep them in `commands`."""
    from gemini_companion.tools.notes.ask_user import AskUser
    from gemini_companion.tools.notes.exit_plan_mode import ExitPlanMode
    from gemini_companion.tools.notes.save_memory import SaveMemory
    from gemini_companion.tools.notes.write_todos import WriteTodos
    from gemini_companion.tools.recall import Recall
    from gemini_companion.tools.registry import ToolRegistry
    from gemini_companion.tools.shell.tools import shell_tools
    from gemini_companion.tools.web.tools import web_tools
    from gemini_companion.tools.workspace import workspace_tools

    notes = (AskUser(), WriteTodos(), ExitPlanMode(), Recall(), SaveMemory())
    return ToolRegistry([*workspace_tools(), *shell_tools(commands), *web_tools(), *notes])


def build_ports(env: Mapping[str, str]) -> Ports:
    """What tools reach the world through; the editor is replaced by the one of the client whose prompt it is."""
    from gemini_companion.adapters.files.disk import DiskFiles
    from gemini_companion.adapters.processes.runner import Runner
    from gemini_companion.adapters.search.ripgrep import RipgrepSearch
    from gemini_companion.adapters.workspace.disk import DiskWorkspace
    from gemini_companion.settings.places import places
    from gemini_companion.tools.no_editor import NoEditor
    from gemini_companion.tools.ports import Ports

    workspace = DiskWorkspace()
    user_file = places(home_directory(env), env).user
    own = (str(data_directory(env)), str(home_directory(env) / ".gemini"), str(user_file.parent))
    return Ports(
        files=DiskFiles(workspace, own=own),
        search=RipgrepSearch(workspace),
        commands=Runner(env, folder=_spills_of(env), private=own),
        editor=NoEditor(),
    )


def _spills_of(env: Mapping[str, str]) -> str:
    """Where commands put outputs that are too long to be held."""
    return str(data_directory(env) / "commands")


def build_judge(env: Mapping[str, str]) -> DiskJudge:
    """What judges shell lines."""
    from gemini_companion.adapters.processes.environment import program_finder
    from gemini_companion.adapters.processes.judging import DiskJudge

    own = (str(data_directory(env)),)
    return DiskJudge(home=str(home_directory(env)), find_program=program_finder(env), private=own)


def build_tooling(env: Mapping[str, str], commands: Commands, settings: SettingsService) -> Tooling:
    """What calls need beside the tools: consent, the record of changes, what outputs leave behind."""
    import msgspec

    from gemini_companion.adapters.files.stamps import StampScan
    from gemini_companion.sessions.tools.changes import FileChanges
    from gemini_companion.sessions.tools.consent_service import ConsentService
    from gemini_companion.sessions.tools.editor import ClientEditor, can_ask
    from gemini_companion.sessions.tools.outputs import CutOutputs
    from gemini_companion.sessions.tools.tooling import Tooling

    return Tooling(
        consent=ConsentService(judge=build_judge(env), own=settings),
        changes=FileChanges(StampScan()),
        outputs=CutOutputs(),
        commands=commands,
        editor_of=ClientEditor,
        can_ask=can_ask,
        options=lambda: msgspec.structs.asdict(settings.current.tools),
    )


def build_services(
    env: Mapping[str, str],
    *,
    store: SessionStore,
    settings: Callable[[], Settings],
    models: ModelRegistry | None = None,
    system_prompt: Callable[[], str | None] = lambda: None,
    write_system_prompt: Callable[[Callable[[], str]], None] = lambda text: None,
    trusted: Callable[[], bool] = lambda: False,
    with_environment: bool = True,
    commands: Commands | None = None,
    memory: MemoryService | None = None,
) -> Services:
    """What every session shares. `commands` keeps what tools run, where there is an application that can stop it."""
    import platform

    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.hooks.process import HookProcesses
    from gemini_companion.adapters.processes.git_state import GitReader
    from gemini_companion.adapters.workspace.disk import DiskWorkspace
    from gemini_companion.protocol.error_data import describe
    from gemini_companion.sessions.hooks.service import HooksOfSessions
    from gemini_companion.sessions.services import Services
    from gemini_companion.sessions.tools.background import Commands

    return Services(
        store=store,
        clock=SystemClock(),
        models=models or build_models(env, settings),
        workspace=DiskWorkspace(),
        settings=settings,
        new_id=new_id,
        new_nonce=lambda: secrets.token_hex(8),
        environment=env,
        system_prompt_override=system_prompt,
        write_system_prompt=write_system_prompt,
        git=GitReader(env),
        today=_today,
        platform=platform.system() or "unknown",
        trusted=trusted,
        describe_fault=describe,
        with_environment=with_environment,
        tools=build_tools(commands or Commands()),
        ports=build_ports(env),
        memory=memory,
        hooks=HooksOfSessions(HookProcesses(env), home=str(home_directory(env))),
    )


class Daemon:
    """One process: the application, its settings, and the connections that share them."""

    def __init__(self, env: Mapping[str, str], command_line: Mapping[str, Any] | None = None) -> None:
        self._env = env
        self._command_line = dict(command_line or {})
        self._hosts: dict[Connection, Host] = {}
        self._app: Application | None = None
        self._maintenance: list[asyncio.Task[object]] = []
        self._memory: MemoryService
        self._settings: SettingsService
        self._store: SqliteStore

    def create_server(self) -> CompanionServer:
        """A server for one client."""
        from gemini_companion.protocol.handshake import create_server

        return create_server(
            version=__version__, create_host=self._create_host, on_ready=self._on_ready, on_close=self._on_close
        )

    def _create_host(self, connection: Connection, options: InitializationOptions) -> Host:
        """The application's side of a connection."""
        from gemini_companion.protocol.host import Host, folders_of

        app = self._application(folders_of(connection))
        self._hosts[connection] = host = Host(
            app,
            connection,
            options,
            client_id=new_id("client"),
            on_workspace=self._on_workspace,
            settings=self._settings,
        )
        return host

    def _application(self, folders: Sequence[str]) -> Application:
        """The application; made for the first client, whose workspace names the project."""
        if self._app is None:
            from gemini_companion.adapters.clock import SystemClock
            from gemini_companion.adapters.storage.store import open_store, project_key
            from gemini_companion.adapters.watching import FileWatch
            from gemini_companion.sessions.application import Application
            from gemini_companion.sessions.tools.background import Commands
            from gemini_companion.settings.service import SettingsService

            self._settings = settings = SettingsService(
                home_directory(self._env),
                self._env,
                folders,
                on_changed=self._on_settings,
                on_problem=self._on_problem,
                watch_files=FileWatch,
                command_line=self._command_line,
            )
            self._store = open_store(
                data_directory(self._env),
                project_key(folders),
                clock=SystemClock(),
                notify=self._warn_from_thread(),
            )
            commands = Commands()
            self._memory = self._build_memory()
            services = build_services(
                self._env,
                store=self._store,
                settings=lambda: settings.current,
                system_prompt=settings.system_prompt,
                write_system_prompt=settings.write_system_prompt,
                trusted=settings.is_trusted,
                commands=commands,
                memory=self._memory,
            )
            self._app = Application(services, build_tooling(self._env, commands, settings))
        return self._app

    def _build_memory(self) -> MemoryService:
        from gemini_companion.adapters.memory.files import DiskMemoryFiles
        from gemini_companion.adapters.watching import FileWatch
        from gemini_companion.sessions.events import MemoryChanged
        from gemini_companion.sessions.memory.service import MemoryService

        return MemoryService(
            DiskMemoryFiles(home_directory(self._env)),
            settings=lambda: self._settings.current,
            folders=lambda: self._app.folders() if self._app else (),
            trusted=self._settings.is_trusted,
            on_changed=lambda paths: self._app.notify_all(MemoryChanged(paths=paths)) if self._app else None,
            watch_files=FileWatch,
        )

    def _on_ready(self, connection: Connection) -> None:
        """The client is ready: load now what was left out on the way to `initialize`."""
        from gemini_companion.adapters.processes.spills import sweep_spills
        from gemini_companion.sessions.maintenance import index_for_recall, keep_house, maintain
        from gemini_companion.sessions.recall.meaning import keep_embedded

        if self._app is None or self._maintenance:
            return
        services, loop = self._app.services, asyncio.get_running_loop()
        work = maintain(services.models, self._store, retention_days=self._settings.current.session_retention_days)
        self._maintenance = [
            loop.create_task(work, name="maintenance"),
            loop.create_task(keep_house(self._app, services.clock), name="keeping house"),
            loop.create_task(index_for_recall(self._store), name="indexing for recall"),
            loop.create_task(keep_embedded(services), name="embedding for recall"),
            loop.create_task(asyncio.to_thread(sweep_spills, _spills_of(self._env)), name="sweeping outputs"),
        ]

    async def _on_close(self, connection: Connection) -> None:
        if host := self._hosts.pop(connection, None):
            host.detach()
        if self._app is None:
            return
        if self._hosts:
            self._on_workspace()
            return
        self._settings.close()
        self._memory.close()
        for task in self._maintenance:
            task.cancel()
        await self._app.close()
        if (ports := self._app.services.ports) is not None:
            await ports.commands.close()

    def _on_workspace(self) -> None:
        """The folders of a client or its trust have changed."""
        if self._app is not None:
            self._settings.set_workspace(self._app.folders(), trusted=self._app.trusted())
            self._memory.look_again()
            self._app.tooling.consent.reconsider()

    def _on_settings(self, keys: tuple[str, ...]) -> None:
        from gemini_companion.sessions.events import SettingsChanged

        if self._app is not None:
            self._app.notify_all(SettingsChanged(keys=keys))
            self._memory.look_again()
            self._app.tooling.consent.reconsider()

    def _on_problem(self, fault: CompanionError) -> None:
        self._show(fault.message_with_hint, is_error=not isinstance(fault, InvalidSettings))

    def _warn_from_thread(self) -> Callable[[str], None]:
        """A function that shows a warning and may be called on any thread."""
        loop = asyncio.get_running_loop()

        def warn(message: str) -> None:
            loop.call_soon_threadsafe(self._show, message)

        return warn

    def _show(self, message: str, *, is_error: bool = False) -> None:
        """Show a message in every editor."""
        from gemini_companion.protocol.messages import ERROR, WARNING, show_message

        for connection in self._hosts:
            show_message(connection, ERROR if is_error else WARNING, message)


def _today() -> str:
    import datetime

    return datetime.datetime.now(tz=datetime.UTC).astimezone().strftime("%A, %d %B %Y")


def serve_stdio(env: Mapping[str, str], command_line: Mapping[str, Any] | None = None) -> int:
    """Serve one editor over the standard streams until it leaves; the exit code. `command_line` has settings."""
    from gemini_companion.adapters.processes.secrecy import close_to_others
    from gemini_companion.protocol.transport import run_stdio

    close_to_others()
    return run_stdio(lambda: Daemon(env, command_line).create_server().dispatcher)
