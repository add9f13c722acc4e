"""`Settings`: the settings in force, made from all layers."""

from __future__ import annotations

import functools
import math
import os
import shlex
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from gemini_companion.engine.history.verdict import BackgroundMode, StrategyName
from gemini_companion.engine.hooks.config import Hook, HookOptions, read_hooks
from gemini_companion.engine.mcp.config import HeldServers, ServerOptions, settled_servers
from gemini_companion.engine.tokens.limits import named_model
from gemini_companion.engine.variables import Reference, names_in
from gemini_companion.settings.agents import AgentOverrideSettings
from gemini_companion.settings.authority import PERSONAL
from gemini_companion.settings.environment import Environment
from gemini_companion.settings.layers import printable
from gemini_companion.settings.schema import SettingsFile
from gemini_companion.settings.session_retention import SessionRetention, session_retention
from gemini_companion.settings.spending import BudgetSettings
from gemini_companion.settings.telemetry import TelemetryOptions, telemetry_options
from gemini_companion.settings.tool_rules import ToolOptions, tool_options

DEFAULT_COMPRESSION_THRESHOLD: Final = 0.5
"""Share of the model's limit at which a history is compressed if no layer sets another (Gemini CLI's value)."""

MAX_ATTEMPTS: Final = 10
"""More than that nobody may ask of a service that fails (Gemini CLI's value)."""

MORE_PROCESSES: Final = 2
"""Processes beside one for each processor, for those that wait for a disk or a network (Ninja's number of jobs)."""

DEFAULT_BOUNDARY_MARKERS: Final = (".git",)
"""What only the top folder of a project has if no layer names other things."""

DEFAULT_MEMORY_FILES: Final = ("GEMINI.md", "AGENTS.md")
"""Names of memory files if no layer sets others: Gemini CLI's, and the one that most assistants read."""


class AgentOverride(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings change of a subagent; `None` leaves it as its file has it."""

    enabled: bool | None = None
    model: str | None = None
    max_turns: int | None = None
    timeout_minutes: float | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings in force; every default is filled in. Read-only: a reload makes a new one."""

    model_name: str | None
    """The name in GEMINI_MODEL or `model.name`; `None` for the default model."""
    model_name_source: Literal["GEMINI_MODEL", "model.name"] | None
    """Which of them it comes from."""
    local_model: str | None
    """The absolute path of a GGUF file, `~` resolved; `None` where no model runs on this machine."""
    compression_threshold: float
    """Share of the token limit, 0 to 1; 1 turns automatic compression off, 0 is always reached."""
    is_threshold_set: bool
    """A layer sets the threshold, so it is nobody's to move up."""
    compression_token_cap: int | None
    """Tokens; `None` where there is no cap."""
    token_limit_override: int | None
    """Tokens that the model accepts, in place of the table's number; `None` for that."""
    max_session_turns: int | None
    """Prompts; `None` for no limit."""
    budget: BudgetSettings
    """What may be spent; 0 for no limit."""
    model_fallback: bool
    """Whether another model answers while the one that is meant cannot."""
    loop_detection: bool
    """Whether loops of the model are looked for."""
    summarize_tool_output: Mapping[str, int | None]
    """The tools whose outputs are condensed, and to how many tokens (`None`: the summariser's own limit)."""
    context_file_names: tuple[str, ...]
    """Base names of the memory files, never empty."""
    context_import_format: Literal["tree", "flat"]
    context_discovery_max_dirs: int
    context_boundary_markers: tuple[str, ...]
    """Base names that only the top folder of a project has; empty keeps memory to the workspace folder."""
    context_directory_tree: bool
    """Whether the model is told what is in the workspace folders."""
    has_plan_mode: bool
    """Whether `general.defaultApprovalMode` may be "plan"."""
    env_excluded: frozenset[str]
    """Variables that do not count in a `.env` file outside of a `.gemini` folder, beside those that never do."""
    env_ignores_local: bool
    """Whether a project's `.env` is passed over."""
    max_attempts: int | None
    """How often one request of a turn is tried, from 1; `None` for our own number."""
    truncate_tool_output_threshold: int | None
    """Characters; `None` for never."""
    tool_max_rounds: int
    """Rounds of calls that one turn may have before the person is asked, from 1."""
    mcp: ServerOptions
    hooks: HookOptions
    skills_enabled: bool
    skills_disabled: frozenset[str]
    """Names of skills that models are not told of."""
    agents_enabled: bool
    """Whether the model may call subagents."""
    agent_overrides: Mapping[str, AgentOverride]
    telemetry: TelemetryOptions
    ide_max_open_files: int
    ide_active_file_characters: int
    compression_model: str | None
    """The model that writes snapshots; `None` for one of the chat's model's family."""
    compression_gate: bool
    """Whether what a snapshot left out is put back, and a snapshot that left out too much refused."""
    retention_floor: float
    """Share of what must not be lost, 0 to 1, below which a snapshot is refused."""
    own_words: float
    """Share of what is hidden, 0 to 1, that the person's words may have in a record."""
    built_in_fallback: bool
    """Whether the built-in summariser writes what a service's model cannot."""
    compression_strategy: StrategyName
    compression_mode: Literal["auto", "remind", "off"]
    compression_background: BackgroundMode
    """When a compression is prepared ahead of need."""
    compression_adaptive: bool
    """Undos and ratings move the threshold."""
    compression_constraints: Literal["ask", "auto", "off"]
    """What becomes of a rule that stands in a prompt."""
    compression_compare: StrategyName | None
    """The strategy of every other automatic compression; `None` where nothing is compared."""
    most_model_calls: int
    """Requests to models at the same time, over all sessions, from 1."""
    most_processes: int
    """Commands and hooks at the same time, over all sessions, from 1."""
    recall_embeddings: bool
    """Whether texts may be sent out to be found by their meaning."""
    redaction: bool
    """Whether secrets are kept out of what is stored."""
    session_retention: SessionRetention
    """Which sessions may go."""
    prompt_sections: Mapping[str, bool]
    """Whether each section of the system prompt is included, by name."""
    tools: ToolOptions
    trusted_folders: tuple[str, ...]
    """Absolute paths as written, `~` resolved, links not."""
    held: tuple[str, ...] = ()
    """Files that cannot be read and of which nobody knows what they forbid. As long as there are any, the built-in
    model answers.
    """
    unread: tuple[str, ...] = ()
    """Files that cannot be read now: what each last held stays in force, or it is among the held ones."""

    @property
    def lines_run(self) -> tuple[str, ...]:
        """What hooks and servers run, as lines of a shell."""
        servers = (one for one in self.mcp.servers if one.command)
        return (
            *(hook.command for hook in self.hooks.hooks),
            *(shlex.join((one.command, *one.args, *((one.cwd,) if one.cwd else ()))) for one in servers),
        )

    @property
    def compression_strategies(self) -> tuple[StrategyName | None, ...]:
        """Those that automatic compressions go by."""
        return self.compression_strategy, self.compression_compare

    @property
    def compression_basis(self) -> str:
        """A checksum of what else makes a compression the one that it is: who writes it, and what is refused."""
        author = self.model_name, self.local_model, self.compression_model, self.built_in_fallback
        basis = *author, self.compression_gate, self.retention_floor, self.own_words
        return f"{zlib.crc32(msgspec.json.encode(basis)):08x}"

    @property
    def compression_terms(self) -> tuple[BackgroundMode, tuple[StrategyName | None, ...], str]:
        """What a prepared compression must fit to count: other settings would have made another one, or none."""
        return self.compression_background, self.compression_strategies, self.compression_basis


def settle(
    merged: SettingsFile,
    *,
    home: Path,
    env: Mapping[str, str],
    remote_compression_threshold: float | None = None,
    layers: Iterable[tuple[str, SettingsFile]] = (),
    held: tuple[str, ...] = (),
    unread: tuple[str, ...] = (),
    held_servers: Mapping[str, HeldServers] = {},
) -> Settings:
    """The settings that result from the merged layers, the environment and a remote experiment's flag.

    The flag (0 to 1) applies only if no layer sets `model.compressionThreshold`; 0, like any number out of range, means
    unset. `home` replaces a leading `~`. `layers` are the layers one by one, lowest first, for what names its origin;
    `held` and `unread` are as in `Settings`; `held_servers` are the servers of a layer, by its name, that are off.
    """
    layers = tuple(layers)
    own = _own_variables(env, home)
    ordered = next((layer.model.name for name, layer in layers if name == "commandLine"), None)
    wished = None if ordered else named_model(env.get("GEMINI_MODEL", ""))
    source: Literal["GEMINI_MODEL", "model.name"] | None = (
        "GEMINI_MODEL" if wished else "model.name" if merged.model.name else None
    )
    names = merged.context.file_name
    file_names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names or ())) or DEFAULT_MEMORY_FILES
    threshold = merged.tools.truncate_tool_output_threshold
    return Settings(
        model_name=wished or merged.model.name,
        model_name_source=source,
        local_model=_resolved(merged.model.local, home) if merged.model.local else None,
        compression_threshold=_threshold(merged.model.compression_threshold, remote_compression_threshold),
        is_threshold_set=merged.model.compression_threshold is not None,
        compression_token_cap=merged.model.compression_token_cap or None,
        token_limit_override=merged.model.token_limit,
        max_session_turns=merged.model.max_session_turns if merged.model.max_session_turns > 0 else None,
        budget=merged.companion.budget,
        model_fallback=merged.companion.routing.fallback,
        loop_detection=not merged.model.disable_loop_detection,
        summarize_tool_output={tool: wish.token_budget for tool, wish in merged.model.summarize_tool_output.items()},
        context_file_names=file_names,
        context_import_format=merged.context.import_format,
        context_discovery_max_dirs=merged.context.discovery_max_dirs,
        context_boundary_markers=boundary_markers(merged),
        context_directory_tree=merged.context.include_directory_tree,
        has_plan_mode=merged.general.plan.enabled,
        env_excluded=frozenset(merged.advanced.excluded_env_vars),
        env_ignores_local=merged.advanced.ignore_local_env,
        max_attempts=min(merged.general.max_attempts, MAX_ATTEMPTS) if merged.general.max_attempts else None,
        truncate_tool_output_threshold=threshold if threshold > 0 else None,
        tool_max_rounds=merged.companion.tools.max_rounds,
        mcp=_server_options(merged, layers, own, held_servers),
        hooks=_hook_options(merged, layers, own),
        skills_enabled=merged.skills.enabled,
        skills_disabled=frozenset(merged.skills.disabled),
        agents_enabled=merged.experimental.enable_agents,
        agent_overrides={name: _override(one) for name, one in merged.agents.overrides.items()},
        telemetry=telemetry_options(merged.telemetry, home),
        ide_max_open_files=merged.companion.ide.max_open_files,
        ide_active_file_characters=merged.companion.ide.active_file_characters,
        compression_model=merged.companion.compression.model,
        compression_gate=merged.companion.compression.gate,
        retention_floor=merged.companion.compression.retention_floor,
        own_words=merged.companion.compression.own_words,
        built_in_fallback=merged.companion.compression.built_in_fallback,
        compression_strategy=merged.companion.compression.strategy,
        compression_mode=merged.companion.compression.mode,
        compression_background=merged.companion.compression.background,
        compression_adaptive=merged.companion.compression.adaptive,
        compression_constraints=merged.companion.compression.constraints,
        compression_compare=merged.companion.compression.compare,
        most_model_calls=merged.companion.limits.model_calls,
        most_processes=merged.companion.limits.processes or _processors() + MORE_PROCESSES,
        recall_embeddings=merged.companion.recall.embeddings,
        redaction=merged.companion.redaction == "on",
        session_retention=session_retention(merged),
        prompt_sections=msgspec.structs.asdict(merged.companion.prompt),
        tools=tool_options(merged, layers, lambda folder: os.path.realpath(_resolved(folder, home))),
        trusted_folders=tuple(_resolved(folder, home) for folder in merged.companion.trusted_folders),
        held=held,
        unread=unread,
    )


def _override(one: AgentOverrideSettings) -> AgentOverride:
    return AgentOverride(
        enabled=one.enabled,
        model=one.llm_config.model,
        max_turns=one.run_config.max_turns,
        timeout_minutes=one.run_config.max_time_minutes,
    )


def boundary_markers(merged: SettingsFile) -> tuple[str, ...]:
    """What only the top folder of a project has."""
    markers = merged.context.memory_boundary_markers
    return DEFAULT_BOUNDARY_MARKERS if markers is None else tuple(markers)


def _hook_options(
    merged: SettingsFile, layers: Iterable[tuple[str, SettingsFile]], own: Callable[[str], Reference | None]
) -> HookOptions:
    read = [(name, *read_hooks(layer.hooks, name)) for name, layer in layers]
    return HookOptions(
        hooks=tuple(_passing(hook, own) for _, hooks, _ in read for hook in hooks),
        problems=tuple(f"{name} settings: {problem}" for name, _, problems in read for problem in problems),
        enabled=merged.hooks_config.enabled,
        disabled=frozenset(merged.hooks_config.disabled),
        notifications=merged.hooks_config.notifications,
    )


def _passing(hook: Hook, own: Callable[[str], Reference | None]) -> Hook:
    """A personal hook with the person's variables that its command refers to."""
    if hook.source not in PERSONAL:
        return hook
    found = [one for one in map(own, names_in(hook.command)) if one is not None]
    return msgspec.structs.replace(hook, passed={one.name: one.value for one in found}) if found else hook


def _own_variables(env: Mapping[str, str], home: Path) -> Callable[[str], Reference | None]:
    """The variables that are the person's, by name; none of a project's file."""
    own = env.own if isinstance(env, Environment) else env

    def reference(name: str) -> Reference | None:
        if (value := own.get(name)) is None:
            return None
        place = own.place(name) if isinstance(own, Environment) else None
        origin = "your environment" if place is None else f"your {_below_home(place[0], home)}"
        return Reference(name=name, value=printable(value), origin=origin)

    return reference


def _below_home(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _server_options(
    merged: SettingsFile,
    layers: Iterable[tuple[str, SettingsFile]],
    own: Callable[[str], Reference | None],
    held: Mapping[str, HeldServers],
) -> ServerOptions:
    layers = tuple(layers)
    allowed = (layer.mcp.allowed for _, layer in layers)
    return settled_servers(
        ((name, name in PERSONAL, layer.mcp_servers) for name, layer in layers if layer.mcp_servers or name in held),
        allowed=[None if names is None else frozenset(names) for names in allowed],
        excluded=merged.mcp.excluded,
        variables=own,
        held=held,
    )


def changed_keys(before: msgspec.Struct, after: msgspec.Struct, prefix: str = "") -> tuple[str, ...]:
    """The keys whose values differ, in dotted form (`model.name`), in the order of the schema."""
    changed: list[str] = []
    for name, encoded in _names(type(after)):
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, msgspec.Struct) and isinstance(new, msgspec.Struct):
            changed += changed_keys(old, new, f"{prefix}{encoded}.")
        elif old != new:
            changed.append(prefix + encoded)
    return tuple(changed)


@functools.cache
def _names(struct: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """The fields' names in Python and in JSON; msgspec evaluates every annotation anew when asked for fields."""
    return tuple((field.name, field.encode_name) for field in msgspec.structs.fields(struct))


def _processors() -> int:
    """Those that this process may use, as far as the system says."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _threshold(local: float | None, remote: float | None) -> float:
    if local is not None:
        return local
    if remote is not None and math.isfinite(remote) and 0 < remote <= 1:
        return remote
    return DEFAULT_COMPRESSION_THRESHOLD


def _resolved(path: str, home: Path) -> str:
    return str(home) + path[1:] if path.startswith("~") else path
