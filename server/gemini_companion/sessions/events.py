"""The events of a session, sent to its subscribers as they happen.

Each event is a Struct tagged by `type`. Durations are milliseconds, counts are tokens.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.command_use import CommandUse
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.extent import SelectionCut, TextExtent
from gemini_companion.engine.history.log import (
    Attachment,
    TokenCountSource,
    Usage,
    Withheld,
)
from gemini_companion.engine.history.loop_entry import LoopKind, LoopOutcome
from gemini_companion.engine.hooks.events import HookOutcome
from gemini_companion.sessions.agent_events import AgentActivity
from gemini_companion.sessions.compression_events import (
    ChatCompressed,
    CompressionCancelled,
    CompressionCompleted,
    CompressionFailed,
    CompressionPrepared,
    CompressionProgress,
    CompressionStarted,
    CompressionUndone,
)
from gemini_companion.sessions.event import SessionEvent
from gemini_companion.sessions.results import ErrorData
from gemini_companion.sessions.surrounding_events import (
    McpServersChanged,
    MemoryChanged,
    SettingsChanged,
    SkillsChanged,
    SlashCommandsChanged,
    TrustChanged,
)
from gemini_companion.sessions.tool_events import (
    ChangesChanged,
    CommandsChanged,
    MaxToolRoundsReached,
    ModeChanged,
    OutputsMasked,
    PromptSteered,
    TodosChanged,
    ToolCallCompleted,
    ToolCallProgress,
    ToolCallStarted,
    ToolQuestionAnswered,
    ToolQuestionAsked,
)

BudgetScope: TypeAlias = Literal["session", "day"]
SlotKind: TypeAlias = Literal["model", "process"]
BudgetUnit: TypeAlias = Literal["tokens", "cost"]


class TurnStarted(SessionEvent, tag="turnStarted", frozen=True, kw_only=True):
    """A prompt's turn has begun."""

    prompt: tuple[Part, ...]
    model: str
    steer_id: str | None = None
    """The prompt was sent to a turn that ended without it: that of its `promptSteered`. Its own turn ends at once."""


class PromptQueued(SessionEvent, tag="promptQueued", frozen=True, kw_only=True):
    """A prompt waits, at `position` from 1, because a turn or a compression runs."""

    position: int
    because: Literal["turn", "compression"]


class WaitingForSlot(SessionEvent, tag="waitingForSlot", frozen=True, kw_only=True):
    """The turn waits, since as much goes on at once as `companion.limits` allows; then once more when it goes on."""

    kind: SlotKind
    """For a request to a model, or for a command or a hook."""
    is_over: bool = False
    """It waits no more."""


class ModelLoading(SessionEvent, tag="modelLoading", frozen=True, kw_only=True):
    """The model runs on this machine and is being loaded into memory; its answer comes after that."""

    model: str


class MessageDelta(SessionEvent, tag="messageDelta", frozen=True, kw_only=True):
    """A piece of the answer."""

    text: str
    attempt: int
    """From 1; rises when the answer is requested again within the turn."""


class ThoughtDelta(SessionEvent, tag="thoughtDelta", frozen=True, kw_only=True):
    """A piece of the model's reasoning, as far as the model shows it."""

    text: str
    attempt: int
    """As in `messageDelta`."""


class MessageDiscarded(SessionEvent, tag="messageDiscarded", frozen=True, kw_only=True):
    """The deltas of this attempt are void; the next attempt starts over."""

    attempt: int
    reason: str
    """A sentence for people."""


class TurnCompleted(SessionEvent, tag="turnCompleted", frozen=True, kw_only=True):
    """The answer is whole and stored."""

    finish_reason: str
    usage: Usage
    """Of its last request."""
    duration_ms: int
    turn_usage: Usage = Usage()
    """The sums over all its requests."""


class TurnFailed(SessionEvent, tag="turnFailed", frozen=True, kw_only=True):
    """The turn ended in an error; the view is as before it, but for its finished rounds."""

    error: ErrorData


class TurnCancelled(SessionEvent, tag="turnCancelled", frozen=True, kw_only=True):
    """The turn was cancelled."""

    by: str
    """The client's id, or a reason: `interrupted`, `delete`, `leave` where its own client went, `shutdown`, `takeOver`.
    Of a prompt that was to steer a turn, and that no request took along: the finish reason of that turn.
    """


class ModelChanged(SessionEvent, tag="modelChanged", frozen=True, kw_only=True):
    """Another model answers from here on."""

    from_: str = msgspec.field(name="from")
    to: str
    reason: str


class UsageUpdated(SessionEvent, tag="usageUpdated", frozen=True, kw_only=True):
    """The meter. `tokensUntilCompression` is absent while automatic compression is off."""

    token_count: int
    token_limit: int
    source: TokenCountSource
    tokens_until_compression: int | None = None
    is_due: bool = False
    """The count has reached the threshold."""


class IdeContextSent(SessionEvent, tag="ideContextSent", frozen=True, kw_only=True):
    """The receipt: what of the editor went to the model, what was withheld and why."""

    kind: Literal["full", "delta"]
    files: tuple[str, ...]
    selection_chars: int
    withheld: tuple[Withheld, ...]
    closed: tuple[str, ...] = ()
    """Those of `files` that the model was told are open no more."""
    texts: tuple[TextExtent, ...] = ()
    """How much was sent of the files whose text it is about; of the other files only the path."""
    selection_cut: SelectionCut | None = None
    """Which lines were sent of a selection that is too long."""
    more_open_files: int = 0
    """Open files that were left out because only so many go along."""


class FilesAttached(SessionEvent, tag="filesAttached", frozen=True, kw_only=True):
    """The files and folders that the prompt mentions: what of them went to the model, what was withheld and why."""

    files: tuple[Attachment, ...]
    withheld: tuple[Withheld, ...]


class ContextWindowWillOverflow(SessionEvent, tag="contextWindowWillOverflow", frozen=True, kw_only=True):
    """The prompt does not fit, and nothing was sent; or what tools gave back does not, and the turn ended."""

    estimated_request_token_count: int
    remaining_token_count: int
    message: str = ""
    """What fills the window and what to do, in sentences for people."""


class LoopDetected(SessionEvent, tag="loopDetected", frozen=True, kw_only=True):
    """The model goes round in circles."""

    kind: LoopKind
    detail: str
    """What it repeats, or why it is thought to be stuck; a line, secrets masked, empty where that would show one."""
    outcome: LoopOutcome
    """The first time in a turn it is told so; the second time the turn ends."""


class BudgetUsed(SessionEvent, tag="budgetUsed", frozen=True, kw_only=True):
    """Most of a budget is used, or all of it."""

    scope: BudgetScope
    unit: BudgetUnit
    spent: float
    """Tokens, or US dollars by list prices."""
    limit: float
    outcome: Literal["warned", "stopped"]
    """At 80 % people are told, once; at 100 % the turn ends."""
    setting: str
    """The key of the settings that sets the limit."""


class MaxTurnsReached(SessionEvent, tag="maxTurnsReached", frozen=True, kw_only=True):
    """`model.maxSessionTurns` is used up."""

    limit: int


class CommandExpanded(SessionEvent, tag="commandExpanded", frozen=True, kw_only=True):
    """The turn's prompt is a slash command, and stands in the log with all that it stands for."""

    command: CommandUse


class ConstraintsChanged(SessionEvent, tag="constraintsChanged", frozen=True, kw_only=True):
    """The rules changed: all of them, oldest first. It has the turn's id if a prompt brought that about."""

    constraints: tuple[Constraint, ...]


class HookRan(SessionEvent, tag="hookRan", frozen=True, kw_only=True):
    """A hook ran."""

    event: str
    """`BeforeTool`, …"""
    name: str
    outcome: HookOutcome
    """What it wanted, or that it failed."""
    duration_ms: int
    message: str = ""
    """What it says to people, or why it denied or failed."""
    is_notable: bool = False
    """It is to be shown: it had an effect, failed or took a second, and the settings do not turn that off."""


class TitleChanged(SessionEvent, tag="titleChanged", frozen=True, kw_only=True):
    """The session has a new title: generated, or set by a client."""

    title: str


Event: TypeAlias = (
    TurnStarted
    | PromptQueued
    | WaitingForSlot
    | ModelLoading
    | MessageDelta
    | ThoughtDelta
    | MessageDiscarded
    | ToolCallStarted
    | ToolCallProgress
    | ToolCallCompleted
    | ToolQuestionAsked
    | ToolQuestionAnswered
    | PromptSteered
    | MaxToolRoundsReached
    | ModeChanged
    | TodosChanged
    | ChangesChanged
    | CommandsChanged
    | OutputsMasked
    | TurnCompleted
    | TurnFailed
    | TurnCancelled
    | ModelChanged
    | UsageUpdated
    | IdeContextSent
    | FilesAttached
    | ContextWindowWillOverflow
    | CompressionStarted
    | CompressionProgress
    | CompressionCompleted
    | CompressionFailed
    | CompressionCancelled
    | CompressionPrepared
    | CompressionUndone
    | ChatCompressed
    | LoopDetected
    | BudgetUsed
    | MaxTurnsReached
    | McpServersChanged
    | MemoryChanged
    | CommandExpanded
    | SlashCommandsChanged
    | SkillsChanged
    | SettingsChanged
    | ConstraintsChanged
    | HookRan
    | AgentActivity
    | TitleChanged
    | TrustChanged
)

EVENTS: tuple[type[SessionEvent], ...] = tuple(Event.__args__)
"""Every event, in the order of the protocol's table."""
