"""The settings file: every key that is read, its meaning and its default.

Keys that Gemini CLI has keep their names and meaning; ours are under `companion`, except `model.tokenLimit` and
`model.compressionTokenCap`. The docstring under a key is its description in `schemas/settings.schema.json`. Unknown
keys are kept and ignored. A key set to null counts as not set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta

from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.engine.tokens.limits import MODEL_NAME
from gemini_companion.settings.agents import AgentsSettings, ExperimentalSettings
from gemini_companion.settings.schema_companion import CompanionSettings
from gemini_companion.settings.schema_sessions import SessionRetentionSettings

# `$` also matches before a final newline in Python, though not in ECMAScript, where the schema's patterns are read.
FILE_NAME: Final = r"^(?!\.{1,2}(/|$))[^/\\\x00-\x1f]{1,255}(/(?!\.{1,2}(/|$))[^/\\\x00-\x1f]{1,255}){0,5}$(?!\n)"
_FileName: TypeAlias = Annotated[str, Meta(pattern=FILE_NAME)]
# msgspec 0.22 reads past the end of its own memory, at the next garbage collection, for a union of a text with a
# pattern and a list. So in `fileName` only the schema has the pattern of the single name; `validation` checks it.
_OneFileName: TypeAlias = Annotated[str, Meta(extra_json_schema={"pattern": FILE_NAME})]
_FilePath: TypeAlias = Annotated[str, Meta(pattern=r"^(~[/\\]|/|\\\\|[A-Za-z]:[/\\])[^\x00]{1,4096}$(?!\n)")]
_ModelName: TypeAlias = Annotated[str, Meta(pattern=MODEL_NAME)]
_Count: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
_Seconds: TypeAlias = Annotated[int, Meta(ge=0, le=86_400)]
_ToolName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500)]
_ToolNames: TypeAlias = Annotated[list[_ToolName], Meta(max_length=1_000)]
_Marker: TypeAlias = Annotated[str, Meta(pattern=r"^(?!\.{1,2}$)[^/\\\x00-\x1f]{1,255}$(?!\n)")]
_VariableName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
_ServerName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=100)]

EXPECTED: Final[Mapping[str, str]] = {
    "model.name": "a model's name, such as gemini-2.5-pro, without spaces",
    "model.local": "the absolute path of a GGUF file, or one that starts with ~/",
    "general.sessionRetention.minRetention": "a number and a unit (h, d, w, m), such as 1d",
    "context.fileName": "the name of a file, such as GEMINI.md or .ai/RULES.md, or a list of such names",
    "general.defaultApprovalMode": '"default", "auto_edit" or "plan"; no file can let everything run unasked',
    "general.sessionRetention.maxAge": 'an age such as "30d", "12h", "4w" or "1m"',
    "context.memoryBoundaryMarkers": "names of files or folders, such as .git, without slashes",
    "context.importFormat": '"tree" or "flat"',
    "telemetry.otlpProtocol": '"grpc" or "http"',
    "companion.compression.model": "a model's name, such as gemini-2.5-pro, without spaces",
    "companion.compression.strategy": ", ".join(f'"{name}"' for name in get_args(StrategyName)),
    "companion.compression.compare": ", ".join(f'"{name}"' for name in get_args(StrategyName)),
    "companion.compression.mode": '"auto", "remind" or "off"',
    "companion.compression.constraints": '"ask", "auto" or "off"',
    "companion.tools.mode": '"ask", "plan" or "acceptEdits"',
    "companion.tools.sandbox": '"auto", "required" or "off"',
    "companion.tools.rules": 'rules with a "tool", a "decision" ("allow", "ask", "deny"), and a "path" or a "command"',
    "companion.tools.sockets": "an absolute path, or one that starts with ~/",
    "companion.redaction": '"on" or "off"',
    "companion.trustedFolders": "an absolute path, or one that starts with ~/",
}
"""By key: what is expected, for a value of the right type that its pattern or its list of choices refuses."""


class PlanSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The mode in which nothing is changed."""

    enabled: bool = True
    """Whether `general.defaultApprovalMode` may be "plan"."""


class GeneralSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What Gemini CLI has under this name, as far as it concerns us."""

    default_approval_mode: Literal["default", "auto_edit", "plan"] | None = None
    """What tools may do unasked in a session for which you chose nothing: "default" reads, "auto_edit" changes files of
    the workspace too, "plan" only reads. `companion.tools.mode` goes before this.
    """
    max_attempts: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """How often one request of a turn is tried while its service fails, at most 10. By default 4."""
    plan: PlanSettings = PlanSettings()
    """The mode in which nothing is changed."""
    session_retention: SessionRetentionSettings = SessionRetentionSettings()
    """How long sessions are kept."""


class EnvironmentVariableRedaction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which variables of the environment commands get. Those that are not named here are decided by a list of what
    programs need; `enabled` of Gemini CLI has no effect.
    """

    allowed: Annotated[list[_VariableName], Meta(max_length=200)] = []
    """Variables that commands get too, as `companion.tools.environment`. Read only from the user's own file."""
    blocked: Annotated[list[_VariableName], Meta(max_length=200)] = []
    """Variables that commands do not get, whatever else names them. Read only from the user's own file."""


class SecuritySettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an administrator, or you, forbid."""

    disable_yolo_mode: bool = False
    """No rule lets every tool run unasked. Where any layer says so, an untrusted workspace's too, it holds."""
    disable_always_allow: bool = False
    """A yes to a question holds once: it keeps no rule. Where any layer says so, it holds."""
    environment_variable_redaction: EnvironmentVariableRedaction = EnvironmentVariableRedaction()
    """Which variables of the environment commands get."""


class AdvancedSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is read of `.env` files."""

    excluded_env_vars: Annotated[list[_VariableName], Meta(max_length=1_000)] = []
    """Variables that do not count in a `.env` file outside of a `.gemini` folder, beside DEBUG and DEBUG_MODE. The
    lists of all layers count.
    """
    ignore_local_env: bool = False
    """Pass over a project's `.env`, but not its `.gemini/.env`."""


class SummarizeToolOutput(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the long outputs of one tool are condensed by a model."""

    token_budget: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """How many tokens the condensed output may have; by default 2,000."""


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which model answers, how much it may be sent, and when its history is compressed."""

    name: _ModelName | None = None
    """The model that answers, unless a chat, the session or GEMINI_MODEL names another. "offline" is built in; a blank
    text or "none" names none. A name with a path (projects/…) counts in the user's own file only.
    """
    local: _FilePath | None = None
    """A GGUF file with a model to run on this machine, as an absolute path or one that starts with ~/. It answers where
    the model "local" is chosen. Read only from the user's own file.
    """
    compression_threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Share of the model's limit at which the history is compressed by itself: 0 always, 1 never. By default 0.5."""
    compression_token_cap: _Count | None = None
    """Compress at this many tokens too, however large the model's limit is. Off by default, and at 0."""
    token_limit: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None
    """How many tokens the model accepts in one request, where the built-in table is wrong or a proxy allows less."""
    max_session_turns: Annotated[int, Meta(ge=-1, le=1_000_000_000)] = -1
    """How many prompts one session answers; -1 and 0 set no limit."""
    disable_loop_detection: bool = False
    """Do not look for a model that goes round in circles: the same calls, the same words, or no progress."""
    summarize_tool_output: dict[str, SummarizeToolOutput] = {}
    """Which tools' long outputs the model that writes snapshots condenses, by the tool's name. What it does not manage
    in time and within its tokens is cut; the whole is kept either way.
    """


class ContextSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which files tell the model about a project."""

    file_name: _OneFileName | Annotated[list[_FileName], Meta(max_length=32)] | None = None
    """The name of the memory files, folders allowed (`.ai/RULES.md`), or several names; the first one is where facts
    are kept. By default GEMINI.md and AGENTS.md.
    """
    import_format: Literal["tree", "flat"] = "tree"
    """How `@path` imports of a memory file are put together: each in its place, or one file after the other."""
    discovery_max_dirs: _Count = 200
    """How many folders below a workspace folder are searched for memory files."""
    memory_boundary_markers: Annotated[list[_Marker], Meta(max_length=32)] | None = None
    """What only the top folder of a project has: memory files are looked for from there down to the workspace folder,
    and imports end there. An empty list keeps both to the workspace folder. By default .git.
    """
    include_directory_tree: bool = True
    """Tell the model at the beginning what is in the workspace folders."""


class ShellSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How commands are run."""

    inactivity_timeout: _Seconds = 300
    """A command that puts out nothing for this many seconds is ended. 0: never."""


class ToolsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which tools there are, and what they may put into the history, as Gemini CLI has it."""

    core: _ToolNames | None = None
    """The only built-in tools that the model gets. By default all."""
    allowed: _ToolNames | None = None
    """Tools that run without a question, such as "write_file" or, for lines that begin so, "run_shell_command(git
    status)". What is guarded (secrets, what decides what runs, what lies outside) is asked about all the same.
    """
    exclude: _ToolNames | None = None
    """Tools, or beginnings of commands, that are never run. The lists of all layers count, an untrusted workspace's
    too.
    """
    confirmation_required: _ToolNames | None = None
    """Tools, or beginnings of commands, that always ask."""
    shell: ShellSettings = ShellSettings()
    """How commands are run."""
    truncate_tool_output_threshold: int = 40_000
    """Outputs with more characters are shortened in the history, the whole kept in a private file. 0 or less: never."""


class TelemetrySettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """OpenTelemetry. Nothing leaves this machine unless it is turned on here."""

    enabled: bool = False
    """Send traces, metrics and logs: numbers and names, no text unless `logPrompts` says so."""
    target: str = "local"
    """"local" or "gcp". Nothing is sent to Google Cloud directly: with "gcp", set `otlpEndpoint` to a collector."""
    otlp_endpoint: str | None = None
    """The address of a collector that takes OTLP. By default http://localhost:4317, or 4318 for "http"."""
    otlp_protocol: Literal["grpc", "http"] = "grpc"
    """The collector's protocol."""
    log_prompts: bool = False
    """Send the text of prompts, answers, arguments and messages too, secrets masked."""
    outfile: str | None = None
    """Write to this file instead of sending: an absolute path, or one that starts with ~/."""


class HooksConfigSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which hooks run, and whether people are shown that."""

    enabled: bool = True
    """Whether hooks run at all."""
    disabled: list[str] = []
    """Names of hooks that do not run, or commands of those without a name. The lists of all layers are joined."""
    notifications: bool = True
    """Whether people are shown that a hook denied or changed something, failed, or took longer than a second."""


class SkillsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Folders of instructions that the model is told of by name and reads when they fit."""

    enabled: bool = True
    """Whether there are skills at all."""
    disabled: list[str] = []
    """Names of skills that the model is not told of. The lists of all layers are joined."""


class McpSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which of the MCP servers are used."""

    allowed: Annotated[list[_ServerName], Meta(max_length=1_000)] | None = None
    """The names of the only servers that are used; by default all. Of several lists, all must name a server."""
    excluded: Annotated[list[_ServerName], Meta(max_length=1_000)] = []
    """Names of servers that are not used. The lists of all layers are joined."""


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Settings of Gemini Companion: `.gemini/settings.json`, or the editor's `geminiCompanion` section."""

    general: GeneralSettings = GeneralSettings()
    """What Gemini CLI has under this name, as far as it concerns us."""

    model: ModelSettings = ModelSettings()
    """Which model answers, how much it may be sent, and when its history is compressed."""
    general: GeneralSettings = GeneralSettings()
    """How long sessions are kept, as Gemini CLI has it."""
    context: ContextSettings = ContextSettings()
    """Which files tell the model about a project."""
    tools: ToolsSettings = ToolsSettings()
    """Which tools there are, and what they may put into the history."""
    mcp_servers: dict[str, dict[str, Any]] = {}
    """MCP servers to connect to, by name, as Gemini CLI has them. Not read from an untrusted workspace; those of a
    trusted one are started once the user has agreed to their command.
    """
    mcp: McpSettings = McpSettings()
    """Which of the MCP servers are used. Not read from an untrusted workspace."""
    hooks: dict[str, Any] = {}
    """Commands to run at events, as Gemini CLI has them; the lists of all layers are joined. Not read from an
    untrusted workspace.
    """
    hooks_config: HooksConfigSettings = HooksConfigSettings()
    """Which hooks run. Not read from an untrusted workspace."""
    agents: AgentsSettings = AgentsSettings()
    """Subagents."""
    experimental: ExperimentalSettings = ExperimentalSettings()
    """What may still change."""
    skills: SkillsSettings = SkillsSettings()
    """Which skills there are. Not read from an untrusted workspace."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """OpenTelemetry. Not read from an untrusted workspace."""
    security: SecuritySettings = SecuritySettings()
    """What an administrator, or you, forbid."""
    advanced: AdvancedSettings = AdvancedSettings()
    """What is read of `.env` files."""
    companion: CompanionSettings = CompanionSettings()
    """What only Gemini Companion has."""
