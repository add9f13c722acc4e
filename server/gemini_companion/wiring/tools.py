"""What tools need of adapters and sessions, each imported where it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gemini_companion.wiring.late import late, nothing_to_await
from gemini_companion.wiring.places import asides_directory, data_directory, home_directory, spills_directory

if TYPE_CHECKING:
    from gemini_companion.adapters.processes.judging import DiskJudge
    from gemini_companion.adapters.processes.sandbox import Sandboxes
    from gemini_companion.adapters.vault.vault import Vault
    from gemini_companion.sessions.clients import Client
    from gemini_companion.sessions.session import Session
    from gemini_companion.sessions.tools.background import Commands
    from gemini_companion.sessions.tools.consent import Consent
    from gemini_companion.sessions.tools.tooling import Changes, Outputs, Tooling
    from gemini_companion.settings.effective import Settings
    from gemini_companion.settings.service import SettingsService
    from gemini_companion.tools.delegation import Delegation
    from gemini_companion.tools.guarded import Guard
    from gemini_companion.tools.ports import CommandRunner, FileSystem, Ports, TextSearch
    from gemini_companion.tools.registry import ToolRegistry
    from gemini_companion.tools.tool import Tool


def build_tools(commands: Commands) -> ToolRegistry:
    """What models that call tools can call, a line each; those that run commands keep them in `commands`. None is
    loaded before one is needed.
    """
    from gemini_companion.tools.registry import ToolRegistry

    return ToolRegistry(lambda: _tools(commands))


def _tools(commands: Commands) -> Iterable[Tool[Any]]:
    from gemini_companion.tools.invoke_agent import InvokeAgent
    from gemini_companion.tools.notes.activate_skill import ActivateSkill
    from gemini_companion.tools.notes.ask_user import AskUser
    from gemini_companion.tools.notes.exit_plan_mode import ExitPlanMode
    from gemini_companion.tools.notes.save_memory import SaveMemory
    from gemini_companion.tools.notes.write_todos import WriteTodos
    from gemini_companion.tools.recall import Recall
    from gemini_companion.tools.shell.tools import shell_tools
    from gemini_companion.tools.web.tools import web_tools
    from gemini_companion.tools.workspace.tools import workspace_tools

    notes = (AskUser(), WriteTodos(), ExitPlanMode(), Recall(), SaveMemory(), ActivateSkill())
    return (*workspace_tools(), *shell_tools(commands), *web_tools(), InvokeAgent(), *notes)


def build_guard(settings: Callable[[], Settings]) -> Guard:
    """What knows the files that decide what runs, or what a model is told: by their names, and by what was read."""
    from gemini_companion.settings.obeyed import gate
    from gemini_companion.settings.programs import expect_run
    from gemini_companion.tools.guarded import OBEYED, guard_of, may_be_allowed
    from gemini_companion.tools.paths import parts_below

    expected: list[tuple[Settings, str]] = []

    def guard(path: str, root: str, *, is_executable: bool = False) -> str:
        current = settings()
        if not any(one is current and known == root for one, known in expected):
            expected[:] = [*(pair for pair in expected if pair[0] is current), (current, root)]
            expect_run(current.lines_run, (root,))
        memory = current.context_file_names
        reason = guard_of(parts_below(path, root), memory=memory, is_executable=is_executable)
        is_open = not reason or may_be_allowed(reason)
        return OBEYED if is_open and gate.is_obeyed(path) else reason

    return guard


def build_ports(
    env: Mapping[str, str], settings: Callable[[], Settings], sandboxes: Sandboxes, vault: Vault | None = None
) -> Ports:
    """What tools reach the world through; the editor is replaced by the one of the client whose prompt it is."""
    from gemini_companion.tools.no_editor import NoEditor
    from gemini_companion.tools.ports import Ports

    return Ports(
        files=late(lambda: _files(env)),
        search=late(_search),
        commands=late(lambda: _runner(env, sandboxes, vault), close=nothing_to_await, forget=_nothing_shared),
        editor=NoEditor(),
        guard=build_guard(settings),
    )


def _nothing_shared(chat: str) -> None:
    """Commands that never ran share nothing."""


def _files(env: Mapping[str, str]) -> FileSystem:
    from gemini_companion.adapters.asides import Asides
    from gemini_companion.adapters.files.disk import DiskFiles
    from gemini_companion.adapters.workspace.disk import DiskWorkspace

    return DiskFiles(DiskWorkspace(), own=own_folders(env), asides=Asides(asides_directory(env)))


def _search() -> TextSearch:
    from gemini_companion.adapters.search.ripgrep import RipgrepSearch
    from gemini_companion.adapters.workspace.disk import DiskWorkspace

    return RipgrepSearch(DiskWorkspace())


def build_sandboxes(env: Mapping[str, str]) -> Sandboxes:
    """Of commands, and of the daemon's own look at git: what works here is tried out once."""
    from gemini_companion.adapters.processes.sandbox import Sandboxes

    return Sandboxes.of(env, private=own_folders(env), notes=str(data_directory(env) / "running"))


def _runner(env: Mapping[str, str], sandboxes: Sandboxes, vault: Vault | None) -> CommandRunner:
    from gemini_companion.adapters.processes.runner import Runner
    from gemini_companion.adapters.vault.sealing import OUTPUT

    return Runner(
        env,
        sandboxes,
        folder=spills_directory(env),
        closing=(lambda: vault.writer(OUTPUT)) if vault is not None else lambda: bytes,
    )


def own_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of the daemon itself."""
    from gemini_companion.settings.places import places

    user_file = places(home_directory(env), env).user
    return str(data_directory(env)), str(home_directory(env) / ".gemini"), str(user_file.parent)


def build_judge(env: Mapping[str, str], settings: Callable[[], Settings]) -> DiskJudge:
    """What judges shell lines."""
    from gemini_companion.adapters.processes.environment import clean, program_finder
    from gemini_companion.adapters.processes.judging import DiskJudge
    from gemini_companion.adapters.vault.betterleaks import Betterleaks

    return DiskJudge(
        home=str(home_directory(env)),
        find_program=program_finder(env),
        private=(str(data_directory(env)),),
        environment=clean(env),
        guard=build_guard(settings),
        finders=(Betterleaks(),),
    )


def build_tooling(
    env: Mapping[str, str],
    commands: Commands,
    settings: SettingsService,
    tell: Callable[[str], None] = lambda text: None,
) -> Tooling:
    """What calls need beside the tools: consent, the record of changes, what outputs leave behind. `tell` warns."""
    import msgspec

    from gemini_companion.sessions.tools.editor import ClientEditor, can_ask
    from gemini_companion.sessions.tools.tooling import Tooling

    return Tooling(
        consent=late(lambda: _consent(env, settings), reconsider=_nothing_to_reconsider),
        changes=late(lambda: _changes(env, commands, settings, tell)),
        outputs=late(_outputs),
        commands=commands,
        editor_of=ClientEditor,
        delegation_of=_delegation,
        can_ask=can_ask,
        tell=tell,
        options=lambda: msgspec.structs.asdict(settings.current.tools),
    )


def _consent(env: Mapping[str, str], settings: SettingsService) -> Consent:
    from gemini_companion.sessions.tools.consent_service import ConsentService

    return ConsentService(judge=build_judge(env, lambda: settings.current), own=settings)


def _nothing_to_reconsider(_session_id: str | None = None) -> None:
    """Nobody was asked."""


def _changes(
    env: Mapping[str, str], commands: Commands, settings: SettingsService, tell: Callable[[str], None]
) -> Changes:
    from gemini_companion.adapters.files.stamps import StampScan
    from gemini_companion.adapters.memory.obeyed import ObeyedFiles
    from gemini_companion.sessions.tools.changes import FileChanges

    obeyed = ObeyedFiles(
        home_directory(env),
        lambda: settings.current.context_file_names,
        lambda: settings.current.context_discovery_max_dirs,
        lambda: settings.current.lines_run,
    )
    return FileChanges(StampScan(), obeyed=obeyed, runs_on=commands.runs_on, tell=tell)


def _outputs() -> Outputs:
    from gemini_companion.sessions.tools.outputs import CutOutputs

    return CutOutputs()


def _delegation(session: Session, client: Client, turn: str, call: str, tooling: Tooling) -> Delegation:
    from gemini_companion.sessions.delegation.running import AgentsOfSession

    return AgentsOfSession(session, client, turn, call, tooling)
