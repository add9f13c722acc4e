"""The results of requests: the protocol's shapes, defined where they are made.

Counts are tokens, times are milliseconds since 1970 (UTC), durations are milliseconds.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import (
    CompressionResult,
    CompressionStatus,
    TokenCountSource,
    Trigger,
    Usage,
)
from gemini_companion.engine.history.retention import Retention
from gemini_companion.engine.history.tool_entries import Mode
from gemini_companion.engine.history.verdict import StrategyName, Verdict
from gemini_companion.engine.tokens.ledger import RequestParts

StopReason: TypeAlias = Literal[
    "contextWindowWillOverflow", "loopDetected", "maxTurns", "maxToolRounds", "blocked", "budget"
]

ExportFormat: TypeAlias = Literal["companion", "gemini-cli", "gemini-cli-jsonl"]
"""What a session can be written as."""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A session as listings show it."""

    session_id: str
    title: str
    model: str
    created_at: int
    updated_at: int
    turns: int
    token_count: int
    workspace_folders: tuple[str, ...]
    """URIs."""
    token_count_source: TokenCountSource = "estimate"
    """Whether the API counted it; `estimate` if absent."""
    parent: str | None = None
    """The session it was forked from."""
    held_by: int | None = None
    """Process id of another process that holds it for writing."""
    running_turn: str | None = None
    """The turn that runs in it now, for whoever opens it meanwhile."""
    warnings: tuple[str, ...] = ()
    """After an import: what could not be read and was left out, as sentences."""
    mode: Mode = "ask"
    """What its tools may do unasked."""
    size: int | None = None
    """In listings: bytes of its log and its private files on disk."""
    is_kept: bool = False
    """It stays, whatever the settings for keeping sessions say."""
    leaves_at: int | None = None
    """In listings: when it is deleted if nobody uses it, in ms since 1970, at the earliest."""


class SessionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A page of sessions, newest first."""

    sessions: tuple[SessionInfo, ...]
    next_cursor: str | None = None
    unindexed: int = 0
    """Sessions that are searched in part only, since they are still being indexed; absent if there are none."""


class ChatResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The end of a turn."""

    session_id: str
    turn_id: str
    text: str
    finish_reason: str
    model: str
    usage: Usage
    """Of its last request."""
    turn_usage: Usage = Usage()
    """The sums over all its requests."""
    compression: CompressionResult | None = None
    """The compression that ran within the turn, if one did."""
    stopped: StopReason | None = None
    """Nothing was sent, or the turn was ended early."""
    prompt: tuple[Part, ...] | None = None
    """The prompt, if nothing was sent."""
    message: str = ""
    """Where it was stopped: why, and what can be done, in sentences for people."""


class CompressionStatusReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """Where compression stands. `forceFullIdeContext` is for the client that gets the report."""

    session_id: str
    state: Literal["idle", "running", "preparing", "prepared"]
    """`preparing`: one is made beside the chat; `prepared`: it is ready, and installed when it is due."""
    has_failed_compression_attempt: bool
    force_full_ide_context: bool
    token_count: int
    token_count_source: TokenCountSource
    token_limit: int
    threshold: float
    """Share of the limit at which automatic compression starts."""
    tokens_until_compression: int | None
    """`None` while automatic compression is off."""
    compressions: int
    can_undo: bool
    phase: str | msgspec.UnsetType = msgspec.UNSET
    """The step under way, as in `compressionProgress`, or `waiting` for what runs; absent while none is."""
    elapsed_ms: int | msgspec.UnsetType = msgspec.UNSET
    """Since the compression began; absent while none is under way."""
    compression_id: str | msgspec.UnsetType = msgspec.UNSET
    """The compression under way, or prepared; absent while none is."""
    prepared_saves: int | msgspec.UnsetType = msgspec.UNSET
    """Tokens that the prepared compression takes off the next request; absent while none is."""
    last: CompressionResult | msgspec.UnsetType = msgspec.UNSET
    mode: Literal["auto", "remind", "off"] = "auto"
    """Whether it starts by itself, only reminds, or does neither."""
    is_due: bool = False
    """The count has reached what it starts at."""
    threshold_reason: str | msgspec.UnsetType = msgspec.UNSET
    """Why it does not start at the settings' threshold, as a sentence: it moved, or pauses; absent where it does."""
    verdict: Verdict | msgspec.UnsetType = msgspec.UNSET
    """Whether compressing now would pay for itself; absent while there is nothing to compress."""
    compression_at: int | msgspec.UnsetType = msgspec.UNSET
    """Tokens at which automatic compression starts: by its threshold, or by the cap; absent while it is off."""


class CompressionInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One compression of a session."""

    compression_id: str
    status: CompressionStatus
    trigger: Trigger
    time: int
    original_token_count: int
    new_token_count: int
    state: Literal["inForce", "covered", "undone", "preview", "outdated"]
    """`outdated`: a preview that cannot be applied any more, since what it hides was changed."""
    hides: tuple[int, int] | None = None
    """The span of sequence numbers that it hides, both inclusive."""
    covers: tuple[str, ...] = ()
    """Ids of the compressions that it stands on."""
    seq: int = 0
    """Its place in the log, between the contents."""
    hidden_turns: int = 0
    """Turns of which it hides a content."""
    message: str = ""
    cuts: int = 0
    """Tool outputs that it shortened."""
    snapshot: str | None = None
    appendix: str | None = None
    """What of the hidden facts was put back behind the snapshot."""
    retention: Retention | None = None
    strategy: StrategyName | None = None
    rating: int | None = None
    """A person's, 1 to 5."""
    note: str | None = None
    token_count_source: TokenCountSource = "estimate"
    """Whether the API counted both numbers; `estimate` if absent."""
    from_file: bool = False
    """It came with the imported file and cannot be undone."""


class CompressionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every compression of a session, newest first."""

    compressions: tuple[CompressionInfo, ...]


class ContextReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The session's tokens by part. The parts add up to `tokenCount`, with `free` to `tokenLimit` unless exceeded."""

    session_id: str
    model: str
    token_count: int
    token_count_source: TokenCountSource
    token_limit: int
    by_part: RequestParts
    free: int
    threshold: float
    """Share of the limit at which automatic compression starts."""
    tokens_until_compression: int | None
    """`None` while automatic compression is off."""
    compression_at: int | msgspec.UnsetType = msgspec.UNSET
    """Tokens at which automatic compression starts: by its threshold, or by the cap; absent while it is off."""


class Pin(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A text that stands word for word in every view after a compression."""

    pin_id: str
    text: str
    created_at: int
    turn_id: str | None = None


class PinList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The pins of a session, oldest first."""

    pins: tuple[Pin, ...]


class ConstraintList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The constraints of a session, pins among them, oldest first; released ones too."""

    constraints: tuple[Constraint, ...]


class WorkspaceFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file or a folder that `@` can name: `path` is what to write after it, in quotes if it has spaces."""

    uri: str
    path: str
    """Relative to its workspace folder; with that folder's name in front if there are several, absolute if two of them
    have the same name.
    """
    is_directory: bool = False


class WorkspaceFileList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The matches, best first; `truncated` if there are more, or the workspace was too large to be searched whole."""

    files: tuple[WorkspaceFile, ...]
    truncated: bool


class EventPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Missed events in order; `truncated` if older ones are gone."""

    events: tuple[dict[str, Any], ...]
    truncated: bool


class Exported(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A session as a file's text."""

    content: str


class CancelResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether there was a job to cancel."""

    cancelled: bool


class ErrorData(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A fault as clients get it."""

    code: int
    kind: str
    message: str
    hint: str
    retryable: bool
