"""The settings that only Gemini Companion has: those under `companion`. See `schema`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from gemini_companion.engine.history.tool_entries import Decision, Mode
from gemini_companion.engine.history.verdict import DEFAULT_STRATEGY, BackgroundMode, StrategyName
from gemini_companion.engine.tokens.limits import MODEL_NAME
from gemini_companion.settings.schema_sessions import SessionsSettings
from gemini_companion.settings.spending import BudgetSettings, RoutingSettings

_VariableName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
_FolderPath: TypeAlias = Annotated[str, Meta(pattern=r"^(~$|~[/\\]|/|\\\\|[A-Za-z]:[/\\])")]
_WorkspacePath: TypeAlias = Annotated[str, Meta(pattern=r"^(~$|~[/\\]|/|\\\\|[A-Za-z]:[/\\])[^\x00]{0,4096}$(?!\n)")]
_ModelName: TypeAlias = Annotated[str, Meta(pattern=MODEL_NAME)]
_Seconds: TypeAlias = Annotated[int, Meta(ge=0, le=86_400)]
_PathPattern: TypeAlias = Annotated[str, Meta(pattern=r"^(?!!)(?!/*$)[^\x00]{1,1000}$(?!\n)")]
_Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1_000)]


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
    """Before a snapshot is installed, look for what must not be lost, and put back what it left out. The strategy
    "record" quotes what was said in any case.
    """
    retention_floor: Annotated[float, Meta(ge=0, le=1)] = 0.5
    """The share of rules, decisions, tasks, errors and paths below which what was said is quoted beside a snapshot, and
    where that has no room either the snapshot is refused. 0: never. The strategy "record" quotes it in any case.
    """
    own_words: Annotated[float, Meta(ge=0, le=1)] = 0.5
    """The share of what is hidden that your own words may have, where they are quoted beside a snapshot. What has no
    room is found by recall.
    """
    built_in_fallback: bool = False
    """Where a service's model writes no usable snapshot, let the built-in summariser write it, as it always does for a
    model on this machine.
    """
    strategy: StrategyName = DEFAULT_STRATEGY
    """What is hidden and what stays word for word. "split": the newest 30 % stay. "semantic": cut where the topic
    changes. "selective": rules, decisions, requests and the last state of files stay. "hierarchical": earlier snapshots
    are never summarised again. "reserve": the newest 20,000 tokens stay. "assemble": no model is asked.
    "userMessages": only what you wrote stays. "record": the newest 15 % stay; of the rest your own words are quoted
    whole, the model's and what calls gave as far as a budget goes.
    """
    mode: Literal["auto", "remind", "off"] = "auto"
    """Whether a history is compressed by itself: "auto"; "remind", which only says that it is due; or "off"."""
    background: BackgroundMode = "auto"
    """Whether a compression is prepared while you work, so that you do not wait for it: "auto", from 80 % of the
    threshold on and in idle time; "idle", in idle time, and when it is due; or "off": the prompt that finds one due
    waits for it. One may be prepared in vain, or anew, which costs requests.
    """
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
    """The first words of a command, for run_shell_command. What denies or asks holds for them however they are
    spelled: with options in between, by other names of the command, behind a wrapper.
    """
    exact: bool = False
    """The rule allows the command with these words alone, and none behind them. "Always" for a command sets it, unless
    the command is known to run nothing that its words say.
    """
    workspace: _WorkspacePath | None = None
    """The workspace folder in which alone the rule holds, as an absolute path or one that starts with ~/. "Always" for
    an edit sets it.
    """


class CompanionToolsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the model may do with tools, and whether it asks before."""

    enabled: bool = True
    """Offer tools to the model."""
    mode: Mode | None = None
    """What tools may do unasked in a session for which you chose nothing: "ask" reads, "plan" only reads, "acceptEdits"
    changes files of the workspace too. By default what `general.defaultApprovalMode` says, else "ask".
    """
    rules: Annotated[list[ToolRuleSetting], Meta(max_length=1_000)] = []
    """Rules of consent; the lists of all layers are joined. Of an untrusted workspace only those count that deny.
    "Always" in a question adds one to your own file.
    """
    sandbox: Literal["auto", "required", "off"] = "auto"
    """What holds commands back: "auto" a sandbox where there is one, "required" no command without, "off" none."""
    network: bool = False
    """Let commands in the sandbox reach the network."""
    environment: Annotated[list[_VariableName], Meta(max_length=200)] = []
    """Variables of the environment that commands get too, such as SSH_AUTH_SOCK, HTTPS_PROXY or PIP_INDEX_URL. One that
    says where a socket is lets commands in the sandbox use that. No command gets the key of Gemini itself. Read only
    from the user's own file, as the next.
    """
    sockets: Annotated[list[_FolderPath], Meta(max_length=50)] = []
    """Sockets that commands in the sandbox may use, such as ~/.docker/run/docker.sock: each an absolute path, or one
    that starts with ~/. Who may use Docker's may do everything on this machine.
    """
    command_seconds: _Seconds = 600
    """A command in the foreground is ended after this many seconds. 0: never."""
    question_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 300
    """How many seconds a question waits for your answer. None in time means no."""
    max_rounds: Annotated[int, Meta(ge=1, le=100_000)] = 100
    """Rounds of calls of one turn, after which it stops and you are asked whether it goes on."""


class LimitsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How much of this machine, and of a service, all chats together take at once. What is above it waits."""

    model_calls: Annotated[int, Meta(ge=1, le=1_000)] = 10
    """Requests to models that are under way at the same time: by default the eight subagents that one chat may have at
    once, and two more. What you wait for goes first, and chats take turns. Read only from the user's own file, as the
    next.
    """
    processes: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    """Commands and hooks that run at the same time; commands in the background count for themselves. By default as many
    as the machine has processors, and two more.
    """


class RecallSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How what was said earlier is found again."""

    embeddings: bool = False
    """Find what means the same in other words, too. Sends the texts of all chats of a project to Gemini's embedding
    model, once each, and what is searched for; this costs money. Read only from the user's own file.
    """


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
    skills: bool = True
    """Which skills there are, by name and description, if any."""
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
    limits: LimitsSettings = LimitsSettings()
    """How much all chats together take at once."""
    recall: RecallSettings = RecallSettings()
    """How what was said earlier is found again."""
    sessions: SessionsSettings = SessionsSettings()
    """How long sessions are kept."""
    prompt: PromptSettings = PromptSettings()
    """Which sections the system prompt has."""
    routing: RoutingSettings = RoutingSettings()
    """What happens while a model cannot answer."""
    budget: BudgetSettings = BudgetSettings()
    """How much may be spent."""
    redaction: Literal["on", "off"] = "on"
    """Whether secrets are kept out of what is stored: marks stand for them on the disk, and chats show them again from
    a vault of the user's. Read only from the user's own file.
    """
    trusted_folders: Annotated[list[_FolderPath], Meta(max_length=1_000)] = []
    """Folders whose workspaces are trusted. Read only from the user's own file: no workspace can trust itself."""
