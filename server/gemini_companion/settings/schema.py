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

from gemini_companion.engine.history.tool_entries import Decision, Mode
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.engine.tokens.limits import MODEL_NAME

# `$` also matches before a final newline in Python, though not in ECMAScript, where the schema's patterns are read.
FILE_NAME: Final = r"^(?!\.{1,2}(/|$))[^/\\\x00-\x1f]{1,255}(/(?!\.{1,2}(/|$))[^/\\\x00-\x1f]{1,255}){0,5}$(?!\n)"
_FileName: TypeAlias = Annotated[str, Meta(pattern=FILE_NAME)]
# msgspec 0.22 reads past the end of its own memory, at the next garbage collection, for a union of a text with a
# pattern and a list. So in `fileName` only the schema has the pattern of the single name; `validation` checks it.
_OneFileName: TypeAlias = Annotated[str, Meta(extra_json_schema={"pattern": FILE_NAME})]
_FolderPath: TypeAlias = Annotated[str, Meta(pattern=r"^(~$|~[/\\]|/|\\\\|[A-Za-z]:[/\\])")]
_FilePath: TypeAlias = Annotated[str, Meta(pattern=r"^(~[/\\]|/|\\\\|[A-Za-z]:[/\\])[^\x00]{1,4096}$(?!\n)")]
_WorkspacePath: TypeAlias = Annotated[str, Meta(pattern=r"^(~$|~[/\\]|/|\\\\|[A-Za-z]:[/\\])[^\x00]{0,4096}$(?!\n)")]
_ModelName: TypeAlias = Annotated[str, Meta(pattern=MODEL_NAME)]
_Count: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
_Seconds: TypeAlias = Annotated[int, Meta(ge=0, le=86_400)]
_ToolName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500)]
_ToolNames: TypeAlias = Annotated[list[_ToolName], Meta(max_length=1_000)]
_PathPattern: TypeAlias = Annotated[str, Meta(pattern=r"^(?!!)(?!/*$)[^\x00]{1,1000}$(?!\n)")]
_ServerName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=100)]
_Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1_000)]

EXPECTED: Final[Mapping[str, str]] = {
    "model.name": "a model's name, such as gemini-2.5-pro, without spaces",
    "model.local": "the absolute path of a GGUF file, or one that starts with ~/",
    "context.fileName": "the name of a file, such as GEMINI.md or .ai/RULES.md, or a list of such names",
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
    "companion.trustedFolders": "an absolute path, or one that starts with ~/",
}
"""By key: what is expected, for a value of the right type that its pattern or its list of choices refuses."""


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
    """Send traces and metrics."""
    target: str = "local"
    """Where Gemini CLI would send them: "local" or "gcp". We send to `otlpEndpoint`."""
    otlp_endpoint: str | None = None
    """The collector's address."""
    otlp_protocol: Literal["grpc", "http"] = "grpc"
    """The collector's protocol."""
    log_prompts: bool = False
    """Send the text of prompts and answers too."""
    outfile: str | None = None
    """Write to this file instead of sending."""


class IdeSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What of the editor is sent to the model."""

    max_open_files: Annotated[int, Meta(ge=0, le=100)] = 10
    """How many open files are sent to the model, the last focused first. 0: none."""
    active_file_characters: Annotated[int, Meta(ge=0, le=400_000)] = 16_384
    """How many characters of the active file's text are sent; of a longer one the lines around the cursor. 0: none."""


class CompressionSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a history is compressed."""

    model: _ModelName | None = None
    """The model that writes snapshots. By default one of the same family as the model that answers."""
    gate: bool = True
    """Before a snapshot is installed, look for what must not be lost, and put back what it left out."""
    retention_floor: Annotated[float, Meta(ge=0, le=1)] = 0.5
    """The share of rules, decisions, tasks, errors and paths below which a snapshot is refused. 0: none."""
    strategy: StrategyName = "split"
    """What is hidden and what stays word for word. "split": the newest 30 % stay. "semantic": cut where the topic
    changes. "selective": rules, decisions, requests and the last state of files stay. "hierarchical": earlier snapshots
    are never summarised again. "reserve": the newest 20,000 tokens stay. "assemble": no model is asked.
    "userMessages": only what you wrote stays.
    """
    mode: Literal["auto", "remind", "off"] = "auto"
    """Whether a history is compressed by itself: "auto"; "remind", which only says that it is due; or "off"."""
    adaptive: bool = True
    """Let your undos and ratings move the threshold a little, never above one that you have set yourself."""
    constraints: Literal["ask", "auto", "off"] = "auto"
    """What becomes of a standing rule in a prompt ("never …", "always …"): "auto" keeps it word for word in every
    request at once and proposes what only may be a rule, "ask" proposes all of them, "off" looks for none.
    """
    compare: StrategyName | None = None
    """Compare a second strategy with yours: every other automatic compression uses it. `gemini-companion report` shows
    how both did, from your own sessions; nothing leaves this machine.
    """


class ToolRuleSetting(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule of consent. What it leaves out matches everything."""

    tool: Annotated[str, Meta(min_length=1, max_length=128)]
    """A tool's name, or "*"."""
    decision: Decision
    """What denies counts before what asks, and that before what allows."""
    path: _PathPattern | None = None
    """A pattern as in ignore files, relative to a workspace folder, for tools that touch files."""
    command: Annotated[list[_Word], Meta(min_length=1, max_length=32)] | None = None
    """The first words of a command, for run_shell_command."""
    workspace: _WorkspacePath | None = None
    """The workspace folder in which alone the rule holds, as an absolute path or one that starts with ~/. "Always" for
    an edit sets it.
    """


class CompanionToolsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the model may do with tools, and whether it asks before."""

    enabled: bool = True
    """Offer tools to the model."""
    mode: Mode = "ask"
    """What tools may do unasked in a session for which you chose nothing: "ask" reads, "plan" only reads, "acceptEdits"
    changes files of the workspace too.
    """
    rules: Annotated[list[ToolRuleSetting], Meta(max_length=1_000)] = []
    """Rules of consent; the lists of all layers are joined. Of an untrusted workspace only those count that deny.
    "Always" in a question adds one to your own file.
    """
    sandbox: Literal["auto", "required", "off"] = "auto"
    """What holds commands back: "auto" a sandbox where there is one, "required" no command without, "off" none."""
    network: bool = False
    """Let commands in the sandbox reach the network."""
    command_seconds: _Seconds = 600
    """A command in the foreground is ended after this many seconds. 0: never."""
    question_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 300
    """How many seconds a question waits for your answer. None in time means no."""
    max_rounds: Annotated[int, Meta(ge=1, le=100_000)] = 100
    """Rounds of calls of one turn, after which it stops and you are asked whether it goes on."""


class RecallSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How what was said earlier is found again."""

    embeddings: bool = False
    """Find what means the same in other words, too. Sends the texts of all chats of a project to Gemini's embedding
    model, once each, and what is searched for; this costs money. Read only from the user's own file.
    """


class SessionsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How long sessions are kept."""

    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = 30
    """Sessions that have not changed for this many days are deleted. 0 keeps them for ever."""


class PromptSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The sections of the system prompt, each of which can be left out. `GEMINI_PROMPT_<SECTION>` overrides this."""

    preamble: bool = True
    """Who the model is and where it works."""
    core_mandates: bool = True
    """What every answer must keep to."""
    tools: bool = True
    """How the tools that can be called are used, and what waits for consent."""
    subagents: bool = True
    """Which subagents there are, if any."""
    workflows: bool = True
    """The way from a request to a change that is checked."""
    editor_context: bool = True
    """How to read what the editor shows."""
    compression_notice: bool = True
    """What a snapshot of the earlier conversation is, and that its rules still hold."""
    operational_guidelines: bool = True
    """How answers are written."""
    trust: bool = True
    """That quoted text gives no orders, and that secrets are not repeated."""
    memory: bool = True
    """What you wanted remembered in every project."""
    git_state: bool = True
    """Branch, changed files and last commits, as of the start of the conversation or its last compression."""
    final_reminder: bool = True
    """When a turn is over."""
    identity: bool = True
    """The former name of `preamble`: either leaves it out."""
    mandates: bool = True
    """The former name of `coreMandates`: either leaves it out."""
    style: bool = True
    """The former name of `operationalGuidelines`: either leaves it out."""
    safety: bool = True
    """The former name of `trust`: either leaves it out."""


class CompanionSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What only Gemini Companion has."""

    ide: IdeSettings = IdeSettings()
    """What of the editor is sent to the model."""
    compression: CompressionSettings = CompressionSettings()
    """How a history is compressed."""
    tools: CompanionToolsSettings = CompanionToolsSettings()
    """What the model may do with tools, and whether it asks before."""
    recall: RecallSettings = RecallSettings()
    """How what was said earlier is found again."""
    sessions: SessionsSettings = SessionsSettings()
    """How long sessions are kept."""
    prompt: PromptSettings = PromptSettings()
    """Which sections the system prompt has."""
    trusted_folders: Annotated[list[_FolderPath], Meta(max_length=1_000)] = []
    """Folders whose workspaces are trusted. Read only from the user's own file: no workspace can trust itself."""


class HooksConfigSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which hooks run, and whether people are shown that."""

    enabled: bool = True
    """Whether hooks run at all."""
    disabled: list[str] = []
    """Names of hooks that do not run, or commands of those without a name. The lists of all layers are joined."""
    notifications: bool = True
    """Whether people are shown that a hook denied or changed something, failed, or took longer than a second."""


class McpSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which of the MCP servers are used."""

    allowed: Annotated[list[_ServerName], Meta(max_length=1_000)] | None = None
    """The names of the only servers that are used; by default all. Of several lists, all must name a server."""
    excluded: Annotated[list[_ServerName], Meta(max_length=1_000)] = []
    """Names of servers that are not used. The lists of all layers are joined."""


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Settings of Gemini Companion: `.gemini/settings.json`, or the editor's `geminiCompanion` section."""

    model: ModelSettings = ModelSettings()
    """Which model answers, how much it may be sent, and when its history is compressed."""
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
    telemetry: TelemetrySettings = TelemetrySettings()
    """OpenTelemetry. Not read from an untrusted workspace."""
    companion: CompanionSettings = CompanionSettings()
    """What only Gemini Companion has."""
