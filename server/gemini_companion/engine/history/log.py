"""The entries of a session's append-only log.

A log is a list of entries with rising `seq`. Nothing in it is ever rewritten; `engine.history.view` computes from it what
the model gets. Entries are stored as JSON with the tag `type`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.content import Content, Part

CompressionStatus: TypeAlias = Literal[
    "COMPRESSED",
    "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT",
    "COMPRESSION_FAILED_TOKEN_COUNT_ERROR",
    "COMPRESSION_FAILED_EMPTY_SUMMARY",
    "NOOP",
    "CONTENT_TRUNCATED",
    "PREVIEW",
    "UNDONE",
]
Trigger: TypeAlias = Literal["manual", "auto", "background"]
TokenCountSource: TypeAlias = Literal["api", "estimate"]
TurnOutcome: TypeAlias = Literal["completed", "cancelled", "failed", "interrupted", "stopped", "replaced"]
"""`replaced` comes after `completed`: another answer was asked for, and given."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Tokens of one answer as the provider counted them (or the offline model's ledger estimate)."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    thought_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0


class Cut(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A function response that a compaction shortened: part `part` of the content of entry `seq`."""

    seq: int
    part: int
    output: str
    """What stands in its place: head, tail and the path of the file that holds the whole."""
    path: str
    tokens_saved: int


class CompressionResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What came of one compression; the wire's shape. Token counts cover the whole request, durations are ms."""

    status: CompressionStatus
    trigger: Trigger
    original_token_count: int
    new_token_count: int
    token_count_source: TokenCountSource
    model_calls: int
    duration_ms: int
    message: str
    compaction_id: str | None = None
    split_at: int | None = None
    kept_contents: int | None = None
    snapshot: str | None = None
    undone: tuple[str, ...] | None = None
    retention: dict[str, Any] | None = None


class Attachment(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file or a folder that a prompt named, as it went along with it."""

    path: str
    """Absolute; a folder's ends in a slash."""
    lines: tuple[int, int] | None = None
    """First and last line that went along, from 1; absent for a folder and for an empty file."""
    truncated: bool = False
    """There is more than went along."""


class Withheld(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that was not told: a file's base name, and why in a few words. Goes to the client, never to a model."""

    name: str
    reason: str


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", omit_defaults=True):
    id: str
    seq: int
    """Rises by one per entry, from 1."""
    time: int
    """Milliseconds since 1970 (UTC)."""


class PromptEntry(_Entry, tag="prompt", frozen=True, kw_only=True):
    """What a person said, and behind it the files that it names: the last parts of `content`, one for each of `attachments`."""

    turn_id: str
    content: Content
    client: str = ""
    attachments: tuple[Attachment, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    """Files that it names and that did not go along."""

    @property
    def said(self) -> tuple[Part, ...]:
        """The person's own parts."""
        return self.content.parts[: max(0, len(self.content.parts) - len(self.attachments))]


class ReplyEntry(_Entry, tag="reply", frozen=True, kw_only=True):
    """What the model said; a content with function calls is followed by their results."""

    turn_id: str
    content: Content
    model: str = ""
    finish_reason: str = ""
    usage: Usage | None = None


class ToolResultEntry(_Entry, tag="toolResult", frozen=True, kw_only=True):
    """The results of the calls of the reply before it."""

    turn_id: str
    content: Content


class IdeContextEntry(_Entry, tag="ideContext", frozen=True, kw_only=True):
    """The editor's state, or what changed of it, as it went to the model just before the turn's prompt."""

    turn_id: str
    content: Content
    kind: Literal["full", "delta"]
    client: str
    epoch: int
    paths: tuple[str, ...] = ()
    selection_chars: int = 0
    withheld: tuple[Withheld, ...] = ()


class TurnEndEntry(_Entry, tag="turnEnd", frozen=True, kw_only=True):
    """How a turn ended. Contents of the turn with `seq` past `kept_to` leave the view, unless it completed.

    A completed turn whose answer was given anew ends a second time, as `replaced`.
    """

    turn_id: str
    outcome: TurnOutcome
    kept_to: int = 0
    reason: str = ""
    by: str = ""
    """Who ended it: a client's id, or the turn that replaced it."""
    duration_ms: int | None = None


class CompactionEntry(_Entry, tag="compaction", frozen=True, kw_only=True):
    """A compression in force from here on: a span hidden, what stands in its place, and what was cut elsewhere.

    `hides` is the inclusive span of sequence numbers, `None` for CONTENT_TRUNCATED. `covers` names the compactions in force
    that it stands on: undoing one of them undoes this one too.
    """

    compaction_id: str
    result: CompressionResult
    hides: tuple[int, int] | None = None
    keeps: tuple[int, ...] = ()
    """Sequence numbers inside the span that stay word for word, in front of the replacement."""
    replacement: tuple[Content, ...] = ()
    snapshot_at: int = 0
    """Index of the snapshot in `replacement`."""
    covers: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    preview_id: str | None = None


class PreviewEntry(_Entry, tag="preview", frozen=True, kw_only=True):
    """A compaction that was computed and not installed; `compaction` is what would be."""

    compaction_id: str
    compaction: CompactionEntry
    base_seq: int
    """The last seq that it was computed for."""


class UndoEntry(_Entry, tag="undo", frozen=True, kw_only=True):
    """Compactions taken back; newest first."""

    undone: tuple[str, ...]
    result: CompressionResult


class AttemptEntry(_Entry, tag="attempt", frozen=True, kw_only=True):
    """A compression that installed nothing, kept for the status and for the failure flag."""

    result: CompressionResult
    forced: bool
    token_count: int
    fault: str = ""
    """Kind of the model fault that ended it, empty for an outcome."""


class PinEntry(_Entry, tag="pin", frozen=True, kw_only=True):
    """A text that stands word for word in every view after a compression."""

    pin_id: str
    text: str
    turn_id: str | None = None


class UnpinEntry(_Entry, tag="unpin", frozen=True, kw_only=True):
    """A pin taken away."""

    pin_id: str


class ModelChangeEntry(_Entry, tag="modelChange", frozen=True, kw_only=True):
    """The session's model from here on."""

    model: str
    reason: str = ""


class RatingEntry(_Entry, tag="rating", frozen=True, kw_only=True):
    """What a person thought of a compaction, 1 to 5."""

    compaction_id: str
    rating: int
    note: str = ""


class ResumeEntry(_Entry, tag="resume", frozen=True, kw_only=True):
    """The session was opened again: a change of epoch."""

    reason: Literal["resume", "fork", "import", "takeOver"] = "resume"


Entry: TypeAlias = (
    PromptEntry
    | ReplyEntry
    | ToolResultEntry
    | IdeContextEntry
    | TurnEndEntry
    | CompactionEntry
    | PreviewEntry
    | UndoEntry
    | AttemptEntry
    | PinEntry
    | UnpinEntry
    | ModelChangeEntry
    | RatingEntry
    | ResumeEntry
)
ContentEntry: TypeAlias = PromptEntry | ReplyEntry | ToolResultEntry | IdeContextEntry


_decoder: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)
_encoder = msgspec.json.Encoder()


def encode_entry(entry: Entry) -> bytes:
    """The entry as JSON bytes. Raises `UnicodeEncodeError` on lone surrogates, which the doors have replaced."""
    return _encoder.encode(entry)


def decode_entry(data: bytes | str) -> Entry:
    """The entry that `encode_entry` wrote. Raises `msgspec.ValidationError` or `msgspec.DecodeError`."""
    return _decoder.decode(data)
