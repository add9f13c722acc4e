"""The entries of a session's append-only log.

A log is a list of entries with rising `seq`. Nothing in it is ever rewritten; `engine.history.view` computes from it
what the model gets. Entries are stored as JSON with the tag `type`.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.engine.history.attached import Attachment, Withheld
from gemini_companion.engine.history.command_use import CommandUse
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.entry import Cut, LogEntry
from gemini_companion.engine.history.extent import SelectionCut, TextExtent
from gemini_companion.engine.history.loop_entry import LoopEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.retention import KeptWords, LineSource, Retention
from gemini_companion.engine.history.shown import Shown
from gemini_companion.engine.history.tool_entries import (
    AllowanceEntry,
    CallRecord,
    ChangeEntry,
    KeptEntry,
    MaskEntry,
    ModeEntry,
    SteerEntry,
    SteerOfferedEntry,
    TodosEntry,
    ToolCallEntry,
)
from gemini_companion.engine.history.usage import Usage
from gemini_companion.engine.history.verdict import StrategyName, Verdict
from gemini_companion.engine.history.version_0_1 import MARK, upgraded_entry

CompressionStatus: TypeAlias = Literal[
    "COMPRESSED",
    "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT",
    "COMPRESSION_FAILED_TOKEN_COUNT_ERROR",
    "COMPRESSION_FAILED_EMPTY_SUMMARY",
    "COMPRESSION_FAILED_LOW_RETENTION",
    "NOOP",
    "CONTENT_TRUNCATED",
    "PREVIEW",
    "UNDONE",
]
Trigger: TypeAlias = Literal["manual", "auto", "background"]
TokenCountSource: TypeAlias = Literal["api", "estimate"]
TurnOutcome: TypeAlias = Literal["completed", "cancelled", "failed", "interrupted", "stopped", "replaced"]
"""`replaced` comes after `completed`: a new answer was asked for, and given."""


class CompressionResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The result of one compression, as on the wire. Token counts cover the whole request."""

    status: CompressionStatus
    trigger: Trigger
    original_token_count: int
    new_token_count: int
    token_count_source: TokenCountSource
    model_calls: int
    duration_ms: int
    message: str
    """A sentence for people."""
    compression_id: str | None = None
    """Absent unless it was installed, kept as a preview, or undone."""
    split_at: int | None = None
    """Index of the first content kept, in the curated view before the compression."""
    kept_contents: int | None = None
    """Contents outside of the span, in front of it and behind it."""
    snapshot: str | None = None
    """With its tags."""
    built_in: bool = False
    """The model that was asked wrote no usable snapshot, and the built-in summariser wrote it."""
    undone: tuple[str, ...] | None = None
    """Ids of the compressions that an undo took out of force, newest first."""
    appendix: str | None = None
    """What of the hidden facts was put back behind the snapshot, as the model gets it."""
    retention: Retention | None = None
    strategy: StrategyName | None = None
    """What chose the span; absent for undos and for shortened outputs."""
    verdict: Verdict | None = None


class PromptEntry(LogEntry, tag="prompt", frozen=True, kw_only=True):
    """A prompt, followed by what it stands for if it is a slash command, and by the files that it names: the last parts
    of `content`, one for each of `attachments`.
    """

    turn_id: str
    content: Content
    client: str = ""
    """Id of the client that sent it."""
    attachments: tuple[Attachment, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    """Files that it names and that were not attached."""
    model: str = ""
    """The model that was asked for; `""` in what earlier versions wrote."""
    steer_id: str = ""
    """Of a prompt that was sent to a turn which ended without it: its `steerOffered`."""
    hook_contexts: int = 0
    """Parts at the end of `content`, behind the files, that hooks added."""
    command: CommandUse | None = None
    """The slash command that it is; its parts stand between the person's own and the files."""

    @property
    def own_parts(self) -> tuple[Part, ...]:
        """The person's own parts: what was typed."""
        behind = len(self.attachments) + self.hook_contexts + (max(0, self.command.parts) if self.command else 0)
        return self.content.parts[: max(0, len(self.content.parts) - behind)]


class ReplyEntry(LogEntry, tag="reply", frozen=True, kw_only=True):
    """The model's answer; one with function calls is followed by their results."""

    turn_id: str
    content: Content
    model: str = ""
    finish_reason: str = ""
    usage: Usage | None = None


class ToolResultEntry(LogEntry, tag="toolResult", frozen=True, kw_only=True):
    """The results of the calls of the reply before it, in the order of the calls."""

    turn_id: str
    content: Content
    calls: tuple[CallRecord, ...] = ()
    """What became of each call, for people; absent in what earlier versions wrote and in imported files."""


class IdeContextEntry(LogEntry, tag="ideContext", frozen=True, kw_only=True):
    """The editor's state, or its changes, as sent to the model just before the turn's prompt."""

    turn_id: str
    content: Content
    kind: Literal["full", "delta"]
    client: str
    """Id of the client whose editor it describes."""
    epoch: int
    """The history's epoch when it was sent."""
    paths: tuple[str, ...] = ()
    """Files that it names."""
    closed: tuple[str, ...] = ()
    """Those of `paths` that it says are open no more."""
    texts: tuple[TextExtent, ...] = ()
    """How much it gives of the files whose text it is about."""
    selection_chars: int = 0
    """Characters of the selected text in it."""
    selection_cut: SelectionCut | None = None
    more_open_files: int = 0
    """Open files that may be shown and are left out because only so many go along."""
    withheld: tuple[Withheld, ...] = ()


class TurnEndEntry(LogEntry, tag="turnEnd", frozen=True, kw_only=True):
    """How a turn ended. Contents of the turn with `seq` past `kept_to` leave the view, unless it completed.

    A completed turn that was replaced ends a second time, as `replaced`.
    """

    turn_id: str
    outcome: TurnOutcome
    kept_to: int = 0
    reason: str = ""
    """Why it failed, or why it was closed; a sentence or a name, `""` for none."""
    by: str = ""
    """Who ended it: a client's id, or the turn that replaced it; `leave` where its client went, `shutdown` where the
    daemon ended.
    """
    duration_ms: int | None = None
    """`None` if it never ran, or was not measured."""
    shown: Shown | None = None
    """What was shown of an answer that was not finished, for reading; in no view."""


class CompressionEntry(LogEntry, tag="compression", frozen=True, kw_only=True):
    """A compression in force from here on: a hidden span, what replaces it, and outputs cut elsewhere.

    `hides` is the inclusive span of sequence numbers, `None` for CONTENT_TRUNCATED. `covers` has the ids of the
    compressions in force that it stands on: undoing one of them undoes this one too.
    """

    compression_id: str
    result: CompressionResult
    hides: tuple[int, int] | None = None
    keeps: tuple[int, ...] = ()
    """Sequence numbers inside the span that stay word for word, in front of the replacement."""
    replacement: tuple[Content, ...] = ()
    snapshot_at: int = 0
    """Index of the snapshot in `replacement`."""
    covers: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    sources: tuple[LineSource, ...] = ()
    """Where lines of the snapshot come from, as far as its author said so."""
    words: KeptWords | None = None
    """What the record beside its snapshot has; `None` where there is none."""
    preview_id: str | None = None
    """The preview that was applied, if one was."""
    from_file: bool = False
    """It came with the file that the session was imported from: what it hid was never here, so nothing undoes it."""


class PreviewEntry(LogEntry, tag="preview", frozen=True, kw_only=True):
    """A compression that is computed and not installed; `compression` is the entry that would be."""

    compression_id: str
    compression: CompressionEntry
    base_seq: int
    """The log's newest `seq` when it was computed."""
    basis: str = ""
    """A checksum of the settings that it was made under; `""` in what earlier versions wrote."""


class DiscardEntry(LogEntry, tag="discard", frozen=True, kw_only=True):
    """A person's preview that was thrown away."""

    compression_id: str


class UndoEntry(LogEntry, tag="undo", frozen=True, kw_only=True):
    """Compressions taken out of force; newest first."""

    undone: tuple[str, ...]
    result: CompressionResult


class AttemptEntry(LogEntry, tag="attempt", frozen=True, kw_only=True):
    """A compression that installed nothing, kept for the status and for the failure flag."""

    result: CompressionResult
    forced: bool
    token_count: int
    """The session's count when it was tried."""
    fault: str = ""
    """Kind of the model fault that ended it, empty for an outcome."""


class PinEntry(LogEntry, tag="pin", frozen=True, kw_only=True):
    """A text that stands word for word in every view after a compression."""

    pin_id: str
    text: str
    turn_id: str | None = None


class UnpinEntry(LogEntry, tag="unpin", frozen=True, kw_only=True):
    """A pin taken away."""

    pin_id: str


class StatementEntry(LogEntry, tag="statement", frozen=True, kw_only=True):
    """A statement of the person's that no compression need keep from here on, or that is to be kept again."""

    at: int
    """Sequence number of the entry that it stands in."""
    text: str
    """Word for word: where sentences are told apart in another way some day, it is found again."""
    is_kept: bool = False


class ConstraintEntry(LogEntry, tag="constraint", frozen=True, kw_only=True):
    """A constraint as it is from here on; the newest of an id holds."""

    constraint: Constraint
    digest: str = ""
    """SHA-256 of its text when it was set, in hexadecimal digits."""
    by_turn: str | None = None
    """The turn whose prompt brought it about; `None` if a person set it by hand."""


class ModelChangeEntry(LogEntry, tag="modelChange", frozen=True, kw_only=True):
    """The session's model from here on."""

    model: str
    reason: str = ""


class RatingEntry(LogEntry, tag="rating", frozen=True, kw_only=True):
    """A person's rating of a compression, 1 to 5."""

    compression_id: str
    rating: int
    note: str = ""


class ResumeEntry(LogEntry, tag="resume", frozen=True, kw_only=True):
    """The session was opened again, or memory files or skills say something else: a change of epoch.

    With `clear` nothing before it is in the view any more.
    """

    reason: Literal["resume", "fork", "import", "takeOver", "memory", "skills", "clear"] = "resume"
    last_held: int = 0
    """The last sign of life of a process that was killed, in ms since 1970; 0 if none was, or if it is not known."""


Entry: TypeAlias = (
    PromptEntry
    | ReplyEntry
    | ToolResultEntry
    | IdeContextEntry
    | TurnEndEntry
    | CompressionEntry
    | PreviewEntry
    | DiscardEntry
    | UndoEntry
    | AttemptEntry
    | PinEntry
    | UnpinEntry
    | ConstraintEntry
    | StatementEntry
    | ModelChangeEntry
    | RatingEntry
    | ResumeEntry
    | ToolCallEntry
    | SteerEntry
    | SteerOfferedEntry
    | ModeEntry
    | AllowanceEntry
    | TodosEntry
    | ChangeEntry
    | KeptEntry
    | MaskEntry
    | ModelCallEntry
    | LoopEntry
)
ContentEntry: TypeAlias = PromptEntry | SteerEntry | ReplyEntry | ToolResultEntry | IdeContextEntry


_ENTRY: Final[Any] = Entry
_decoder: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)
_encoder = msgspec.json.Encoder()


def encode_entry(entry: Entry) -> bytes:
    """The entry as JSON bytes. Raises `UnicodeEncodeError` on lone surrogates, which decoding input has replaced."""
    return _encoder.encode(entry)


def decode_entry(data: bytes | str) -> Entry:
    """The entry that `encode_entry` wrote, here or in version 0.1.

    Raises `msgspec.ValidationError` or `msgspec.DecodeError`.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        if MARK in raw and isinstance(fields := msgspec.json.decode(raw), dict):
            return msgspec.convert(upgraded_entry(cast("dict[str, Any]", fields)), _ENTRY)
        return _decoder.decode(raw)
    except RecursionError:
        raise msgspec.ValidationError("The entry is nested too deeply.") from None
