"""One process: the application, its settings, and the connections that share them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_companion import __version__
from gemini_companion.engine.errors import CompanionError, InvalidSettings
from gemini_companion.wiring.extending import build_extending
from gemini_companion.wiring.late import late, nothing
from gemini_companion.wiring.loading_order import load_in_steps
from gemini_companion.wiring.places import asides_directory, data_directory, home_directory, spills_directory
from gemini_companion.wiring.servers import build_servers, server_commands
from gemini_companion.wiring.services import build_services, new_id
from gemini_companion.wiring.tools import build_tooling

if TYPE_CHECKING:
    from gemini_companion.adapters.storage.recent import RecentFile
    from gemini_companion.adapters.storage.store import SqliteStore
    from gemini_companion.adapters.vault.vault import Vault
    from gemini_companion.protocol.connection import Connection
    from gemini_companion.protocol.dispatch import Dispatcher
    from gemini_companion.protocol.handshake import Handshake
    from gemini_companion.protocol.host import Host
    from gemini_companion.protocol.options import InitializationOptions
    from gemini_companion.protocol.server import CompanionServer
    from gemini_companion.sessions.application import Application
    from gemini_companion.sessions.commands.registry import SlashCommands
    from gemini_companion.sessions.memory.service import MemoryService
    from gemini_companion.sessions.skills.service import SkillService
    from gemini_companion.settings.service import SettingsService
    from gemini_companion.wiring.telemetry import TelemetrySwitch
    from gemini_companion.wiring.watches import Watches


class _Shown(logging.Handler):
    """Shows people what is logged: an ignore file that cannot be gone by is found in many places, on any thread."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())


class Daemon:
    """One process: the application, its settings, and the connections that share them."""

    def __init__(
        self, env: Mapping[str, str], command_line: Mapping[str, Any] | None = None, log_file: str | None = None
    ) -> None:
        self._env = env
        self._log_file = log_file
        self._command_line = dict(command_line or {})
        self._hosts: dict[Connection, Host] = {}
        self._app: Application | None = None
        self._maintenance: list[asyncio.Task[object]] = []
        self._memory: MemoryService
        self._commands: SlashCommands
        self._skills: SkillService
        self._settings: SettingsService
        self._store: SqliteStore
        self._telemetry: TelemetrySwitch | None = None
        self._recent: RecentFile | None = None
        self._asking: dict[asyncio.Task[None], CompanionError] = {}
        """The questions that wait, each with what is wrong."""
        self._vault: Vault

    def create_dispatcher(self) -> Dispatcher:
        """What takes the messages of one client."""
        return self._handshake().dispatcher()

    def create_server(self) -> CompanionServer:
        """The same as a server of pygls."""
        return self._handshake().server()

    def _handshake(self) -> Handshake:
        from gemini_companion.protocol.loading import loading

        with loading():
            from gemini_companion.protocol.handshake import Handshake

        return Handshake(
            version=__version__,
            create_host=self._create_host,
            on_ready=self._on_ready,
            on_close=self._on_close,
            load=load_in_steps,
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
            from gemini_companion.adapters.asides import Asides
            from gemini_companion.adapters.clock import SystemClock
            from gemini_companion.adapters.storage.project import project_key
            from gemini_companion.adapters.storage.store import open_store
            from gemini_companion.sessions.application import Application
            from gemini_companion.sessions.tools.background import Commands
            from gemini_companion.settings.last_good import LastGood
            from gemini_companion.settings.obeyed import gate
            from gemini_companion.settings.service import SettingsService
            from gemini_companion.wiring.vault import build_vault
            from gemini_companion.wiring.watches import Watches

            gate.keep_in(str(data_directory(self._env) / "not-agreed"))
            look_again = self._from_thread(lambda _: self._on_agreed())
            gate.on_changed = lambda: look_again("")
            watches = Watches()
            self._settings = settings = SettingsService(
                home_directory(self._env),
                self._env,
                folders,
                on_changed=self._on_settings,
                on_problem=self._on_problem,
                watch_files=watches.files,
                command_line=self._command_line,
                last_good=LastGood(data_directory(self._env) / "settings", self._env),
                on_environment=self._on_environment,
                aside=Asides(asides_directory(self._env)).in_folder,
            )
            warn = self._warn_from_thread()
            self._ignore_files = _Shown(warn)
            logging.getLogger("gemini_companion.adapters.workspace.ignore").addHandler(self._ignore_files)
            self._vault = build_vault(self._env, lambda: settings.current, notify=warn)
            self._store = open_store(
                data_directory(self._env),
                project_key(folders),
                clock=SystemClock(),
                notify=warn,
                vault=self._vault,
                on_taken=self._from_thread(self._tell_taken),
            )
            commands = Commands()
            self._memory = late(lambda: self._build_memory(watches), look_again=nothing, close=nothing)
            self._commands, self._skills = build_extending(
                home_directory(self._env),
                settings,
                watches,
                folders=lambda: self._app.folders() if self._app else (),
                tell=lambda event: self._app.notify_all(event) if self._app else None,
            )
            servers = build_servers(self._env, settings, lambda: self._app)
            self._commands.add(late(lambda: server_commands(servers)))
            services = build_services(
                self._env,
                store=self._store,
                settings=lambda: settings.current,
                system_prompt=settings.system_prompt,
                write_system_prompt=settings.write_system_prompt,
                trusted=settings.is_trusted,
                commands=commands,
                memory=self._memory,
                folders=lambda: self._app.folders() if self._app else (),
                environment=settings.environment,
                vault=self._vault,
                slash_commands=self._commands,
                skills=self._skills,
                mcp=servers,
            )
            services.tell = self._show
            self._app = Application(services, build_tooling(self._env, commands, settings, self._show))
        return self._app

    def _build_memory(self, watches: Watches) -> MemoryService:
        from gemini_companion.adapters.asides import Asides
        from gemini_companion.adapters.memory.files import DiskMemoryFiles
        from gemini_companion.sessions.memory.service import MemoryService
        from gemini_companion.sessions.surrounding_events import MemoryChanged

        return MemoryService(
            DiskMemoryFiles(home_directory(self._env), Asides(asides_directory(self._env))),
            settings=lambda: self._settings.current,
            folders=lambda: self._app.folders() if self._app else (),
            trusted=self._settings.is_trusted,
            on_changed=lambda paths: self._app.notify_all(MemoryChanged(paths=paths)) if self._app else None,
            watch_files=watches.files,
        )

    def _on_ready(self, connection: Connection) -> None:
        """The client is ready: load now what was left out on the way to `initialize`."""
        from gemini_companion.adapters.asides import sweep_asides
        from gemini_companion.adapters.processes.spills import sweep_spills
        from gemini_companion.sessions.maintenance import index_for_recall, keep_house, maintain
        from gemini_companion.sessions.recall.meaning import keep_embedded
        from gemini_companion.wiring.telemetry import TelemetrySwitch, build_recent

        if self._app is None or self._maintenance:
            return
        services, loop = self._app.services, asyncio.get_running_loop()
        store, clock = self._store, services.clock
        self._recent = build_recent(self._env, self._log_file)
        services.observing.add(self._recent)
        self._telemetry = TelemetrySwitch(services.observing, self._warn_from_thread(), self._vault.known)
        self._telemetry.apply(self._settings.current.telemetry)
        work = maintain(services.models, store, lambda: self._settings.current.session_retention, clock, self._tell)
        self._maintenance = [
            loop.create_task(work, name="maintenance"),
            loop.create_task(keep_house(self._app, services.clock), name="keeping house"),
            loop.create_task(index_for_recall(self._store), name="indexing for recall"),
            loop.create_task(keep_embedded(services), name="embedding for recall"),
            self._redacting(),
            loop.create_task(asyncio.to_thread(sweep_spills, spills_directory(self._env)), name="sweeping outputs"),
            loop.create_task(asyncio.to_thread(sweep_asides, asides_directory(self._env)), name="sweeping asides"),
        ]

    def _redacting(self) -> asyncio.Task[None]:
        """Go through what was written without redaction."""
        from gemini_companion.sessions.maintenance import redact_older

        work = redact_older(self._store)
        return asyncio.get_running_loop().create_task(work, name="redacting")

    async def _on_close(self, connection: Connection) -> None:
        if host := self._hosts.pop(connection, None):
            host.detach()
        if self._app is None:
            return
        if self._hosts:
            self._on_workspace()
            return
        logging.getLogger("gemini_companion.adapters.workspace.ignore").removeHandler(self._ignore_files)
        self._settings.close()
        self._memory.close()
        self._commands.close()
        self._skills.close()
        for task in (*self._maintenance, *self._asking):
            task.cancel()
        await self._app.close()
        if (servers := self._app.services.mcp) is not None:
            await servers.close()
        if (ports := self._app.services.ports) is not None:
            await ports.commands.close()
        if self._telemetry is not None:
            await self._telemetry.close()
        if self._recent is not None:
            self._recent.close()

    def _on_workspace(self) -> None:
        """The folders of a client or its trust have changed."""
        if self._app is not None:
            self._settings.set_workspace(self._app.folders(), trusted=self._app.trusted())
            self._memory.look_again()
            self._commands.look_again()
            self._skills.look_again()
            self._look_at_servers()
            self._app.tooling.consent.reconsider()

    def _look_at_servers(self) -> None:
        if self._app is not None and self._app.services.mcp is not None:
            self._app.services.mcp.look_again()

    def _on_settings(self, keys: tuple[str, ...]) -> None:
        from gemini_companion.sessions.events import SettingsChanged

        if self._app is not None:
            self._app.notify_all(SettingsChanged(keys=keys))
            self._end_questions()
            if "companion.redaction" in keys and self._settings.current.redaction and self._maintenance:
                self._maintenance.append(self._redacting())
            if self._telemetry is not None:
                self._telemetry.apply(self._settings.current.telemetry)
            self._app.services.slots.set_limits(self._settings.current)
            self._memory.look_again()
            self._look_at_servers()
            self._app.tooling.consent.reconsider()

    def _on_agreed(self) -> None:
        """Files count, or do not, other than before: what was read of them is read again."""
        if self._app is not None:
            self._settings.reload()
            self._commands.look_again()
            self._skills.look_again()

    def _on_environment(self) -> None:
        """A `.env` file that counts has changed, and with it perhaps the model's key."""
        from gemini_companion.adapters.gemini.registration import register

        if self._app is not None:
            self._app.services.models.renew(register(self._settings.environment))
            self._look_at_servers()

    def _on_problem(self, fault: CompanionError) -> None:
        from gemini_companion.settings.load import HeldLayer

        if not isinstance(fault, HeldLayer) or fault.file is None:
            self._show(fault.message_with_hint, is_error=not isinstance(fault, InvalidSettings))
            return
        # One message for each editor: the question says what is wrong as well.
        for host in self._hosts.values():
            task = asyncio.get_running_loop().create_task(self._ask_to_go_on(host, fault, fault.file))
            self._asking[task] = fault
            task.add_done_callback(self._asking.pop)

    async def _ask_to_go_on(self, host: Host, fault: CompanionError, file: Path) -> None:
        if await host.goes_on_without(fault.message_with_hint):
            self._settings.go_on(file)

    def _end_questions(self) -> None:
        """Take back what is asked about a file that is mended, gone or broken in another way."""
        wrong = {problem.message for problem in self._settings.loaded.problems}
        for task, fault in self._asking.items():
            if fault.message not in wrong:
                task.cancel()

    def _warn_from_thread(self) -> Callable[[str], None]:
        """A function that shows a warning and may be called on any thread."""
        return self._from_thread(self._show)

    def _from_thread(self, work: Callable[[str], None]) -> Callable[[str], None]:
        """The same work, for any thread."""
        loop = asyncio.get_running_loop()

        def hand_over(text: str) -> None:
            loop.call_soon_threadsafe(work, text)

        return hand_over

    def _tell_taken(self, session_id: str) -> None:
        """Another process took a session: whoever has it open is told, and not only when something is sent to it."""
        from gemini_companion.sessions.taken import end_taken

        if self._app is not None:
            end_taken(self._app, session_id)

    def _tell(self, message: str) -> None:
        """Show in every editor what is no warning."""
        from gemini_companion.protocol.messages import INFO, show_message

        for connection in self._hosts:
            show_message(connection, INFO, message)

    def _show(self, message: str, *, is_error: bool = False) -> None:
        """Show a message in every editor."""
        from gemini_companion.protocol.messages import ERROR, WARNING, show_message

        for connection in self._hosts:
            show_message(connection, ERROR if is_error else WARNING, message)


def serve_stdio(
    env: Mapping[str, str], command_line: Mapping[str, Any] | None = None, log_file: str | None = None
) -> int:
    """Serve one editor over the standard streams until it leaves; the exit code.

    `command_line` has settings; `log_file` is where the log goes, if not to stderr.
    """
    from gemini_companion.adapters.processes.allocator import map_large_buffers
    from gemini_companion.adapters.processes.secrecy import close_to_others
    from gemini_companion.protocol.transport import run_stdio

    close_to_others()
    map_large_buffers(env)
    return run_stdio(lambda: Daemon(env, command_line, log_file).create_dispatcher())
