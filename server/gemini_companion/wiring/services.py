"""What every session shares, made of the adapters. What it needs is imported where it is used."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gemini_companion.wiring.late import late
from gemini_companion.wiring.places import home_directory
from gemini_companion.wiring.tools import build_ports, build_sandboxes, build_tools

if TYPE_CHECKING:
    from gemini_companion.adapters.processes.sandbox import Sandboxes
    from gemini_companion.adapters.vault.vault import Vault
    from gemini_companion.sessions.agents.port import AgentFiles
    from gemini_companion.sessions.commands.registry import SlashCommands
    from gemini_companion.sessions.hooks.port import HookRunner
    from gemini_companion.sessions.mcp.service import McpService
    from gemini_companion.sessions.memory.service import MemoryService
    from gemini_companion.sessions.models.registry import ModelRegistry
    from gemini_companion.sessions.ports import SessionStore, WorkspaceFiles
    from gemini_companion.sessions.services import Services
    from gemini_companion.sessions.skills.service import SkillService
    from gemini_companion.sessions.system_prompt import GitStates
    from gemini_companion.sessions.tools.background import Commands
    from gemini_companion.settings.effective import Settings


def new_id(kind: str) -> str:
    """An id that begins with what it is of."""
    return f"{kind}-{uuid.uuid4().hex}"


def build_models(
    env: Mapping[str, str], settings: Callable[[], Settings], environment: Mapping[str, str] | None = None
) -> ModelRegistry:
    """The model adapters, a line each: the first that serves a name has it, the last answers where another cannot.

    A new one stands before Gemini's, which serves every name that none before it does. `environment` has the key: `env`
    with what `.env` files add, unless given.
    """
    from gemini_companion.adapters.gemini import registration as gemini
    from gemini_companion.adapters.local import registration as local
    from gemini_companion.adapters.local.file import LocalOptions
    from gemini_companion.adapters.offline import registration as offline
    from gemini_companion.sessions.models.registry import ModelRegistry

    def local_options() -> LocalOptions:
        now = settings()
        return LocalOptions(now.local_model, now.token_limit_override)

    return ModelRegistry(
        [
            local.register(env, local_options),
            gemini.register(env if environment is None else environment),
            offline.register(env),
        ]
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
    folders: Callable[[], Sequence[str]] | None = None,
    environment: Mapping[str, str] | None = None,
    vault: Vault | None = None,
    slash_commands: SlashCommands | None = None,
    skills: SkillService | None = None,
    mcp: McpService | None = None,
) -> Services:
    """What every session shares. `commands` keeps what tools run, where there is an application that can stop it; there
    are subagents where `folders` tells the open workspace folders.

    `environment` is `env` with what `.env` files add; processes that are started get nothing of those. `vault` keeps
    secrets out of what leaves this machine, and of what commands put out.
    """
    import platform

    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.hooks.transcripts import PrivateTranscripts
    from gemini_companion.adapters.vault.masking import Masking
    from gemini_companion.protocol.error_data import describe
    from gemini_companion.sessions.agents.service import AgentService
    from gemini_companion.sessions.commands.registry import SlashCommands
    from gemini_companion.sessions.hooks.service import HooksOfSessions
    from gemini_companion.sessions.services import Services
    from gemini_companion.sessions.tools.background import Commands

    transcripts = PrivateTranscripts(Masking(vault.known if vault is not None else None))
    tools = build_tools(commands or Commands())
    sandboxes = late(lambda: build_sandboxes(env))
    return Services(
        store=store,
        clock=SystemClock(),
        models=models or build_models(env, settings, environment),
        workspace=late(_workspace),
        settings=settings,
        new_id=new_id,
        new_nonce=lambda: secrets.token_hex(8),
        environment=env if environment is None else environment,
        system_prompt_override=system_prompt,
        write_system_prompt=write_system_prompt,
        git=late(lambda: _git(env, sandboxes)),
        today=_today,
        platform=platform.system() or "unknown",
        trusted=trusted,
        describe_fault=describe,
        with_environment=with_environment,
        tools=tools,
        agents=None
        if folders is None
        else AgentService(
            late(lambda: _agent_files(env)),
            settings=settings,
            folders=folders,
            trusted=trusted,
            tools=lambda: tuple(tools),
        ),
        ports=build_ports(env, settings, sandboxes, vault),
        exported=vault.exported if vault is not None else lambda document: document,
        marked=vault.marked if vault is not None else lambda document: document,
        vouched=vault.vouched if vault is not None else lambda pieces: None,
        memory=memory,
        mcp=mcp,
        slash_commands=slash_commands or SlashCommands(),
        skills=skills,
        hooks=HooksOfSessions(late(lambda: _hooks(env)), home=str(home_directory(env)), files=transcripts),
    )


def _workspace() -> WorkspaceFiles:
    from gemini_companion.adapters.workspace.disk import DiskWorkspace

    return DiskWorkspace()


def _agent_files(env: Mapping[str, str]) -> AgentFiles:
    from gemini_companion.adapters.agents.files import DiskAgentFiles

    return DiskAgentFiles(home_directory(env))


def _git(env: Mapping[str, str], sandboxes: Sandboxes) -> GitStates:
    from gemini_companion.adapters.processes.git_state import GitReader

    return GitReader(env, sandboxes)


def _hooks(env: Mapping[str, str]) -> HookRunner:
    from gemini_companion.adapters.hooks.process import HookProcesses

    return HookProcesses(env)


def _today() -> str:
    import datetime

    return datetime.datetime.now(tz=datetime.UTC).astimezone().strftime("%A, %d %B %Y")
