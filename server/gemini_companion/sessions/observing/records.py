"""What happened, as those that watch get it: numbers and words of our own.

What a person, a model, a tool or a hook wrote stands in `texts` and nowhere else. It is there only while somebody
asked for it. Times are milliseconds since 1970, durations milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.log import CompressionStatus, Trigger
from gemini_companion.engine.history.model_call import CallOutcome, CallPurpose
from gemini_companion.engine.history.tool_entries import ToolOutcome
from gemini_companion.engine.history.usage import Usage

TEXT_LIMIT: Final = 16_384
"""Characters of one text that is sent."""
TEXT_TAKEN: Final = TEXT_LIMIT + 8_192
"""Characters of it that are looked through for secrets before it is cut: half of one is not known for what it is."""

_WORD: Final = re.compile(r"[\w.:/@-]{1,100}", re.ASCII)


def word(text: str) -> str:
    """A name as it may stand in a record: `other` in place of what is no name, for it could be any text."""
    return text if _WORD.fullmatch(text) else "other"


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Something that happened, or has ended."""

    time: int
    session_id: str = ""
    turn_id: str = ""
    """The turn that it belongs to; `""` for none."""
    texts: Mapping[str, str] = {}
    """By name, each at most `TEXT_TAKEN` long."""


class TurnBegan(Record, tag="turnBegan", frozen=True, kw_only=True):
    """A prompt's turn has begun. Texts: `prompt`."""

    model: str
    prompt_length: int
    """Characters of the person's own text."""


class TurnEnded(Record, tag="turnEnded", frozen=True, kw_only=True):
    """A turn has ended. Texts: `message` of an error."""

    outcome: Literal["completed", "failed", "cancelled"]
    finish_reason: str = ""
    usage: Usage | None = None
    """The sums over its requests."""
    duration_ms: int = 0
    error: str = ""
    """The kind of the fault."""
    error_code: int = 0
    retryable: bool = False


class ModelCalled(Record, tag="modelCalled", frozen=True, kw_only=True):
    """A request to a model has ended. Texts: `request`, `response`."""

    provider: str
    model: str
    purpose: CallPurpose
    role: str
    subject: str = ""
    """Id of the turn, the compression or the call that it was made for."""
    prompt_id: str = ""
    """The same, with `-verify` behind a compression's second request."""
    outcome: CallOutcome
    fault: str = ""
    finish_reason: str = ""
    usage: Usage | None = None
    duration_ms: int
    first_ms: int | None = None
    cost: float | None = None
    """US dollars; `None` where tokens or price are not known."""


class ToolCalled(Record, tag="toolCalled", frozen=True, kw_only=True):
    """A call of a tool has its result. Texts: `args`."""

    call_id: str
    name: str
    outcome: ToolOutcome
    decision: Literal["accept", "auto_accept", "reject"]
    """A person said yes; nobody was asked; a person, a rule or the mode said no."""
    duration_ms: int


class HookCalled(Record, tag="hookCalled", frozen=True, kw_only=True):
    """A hook ran. Texts: `name` in full, `message`."""

    event: str
    name: str
    """The base name of its first word."""
    outcome: str
    duration_ms: int


class CompressionBegan(Record, tag="compressionBegan", frozen=True, kw_only=True):
    """A compression runs."""

    compression_id: str
    trigger: Trigger


class CompressionEnded(Record, tag="compressionEnded", frozen=True, kw_only=True):
    """A compression has ended; without `status` it was cancelled."""

    compression_id: str
    status: CompressionStatus | None = None
    trigger: Trigger | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    model_calls: int = 0
    duration_ms: int = 0
    strategy: str = ""
    retention: float | None = None
    """Share of the facts that stand in what took the place of the span, 0 to 1."""


class Noted(Record, tag="noted", frozen=True, kw_only=True):
    """Another event of a session, by its type alone."""

    event: str


AnyRecord: TypeAlias = (
    TurnBegan | TurnEnded | ModelCalled | ToolCalled | HookCalled | CompressionBegan | CompressionEnded | Noted
)


def without_texts(record: AnyRecord) -> AnyRecord:
    """The record without what anybody wrote."""
    return msgspec.structs.replace(record, texts={}) if record.texts else record


def plain(record: AnyRecord) -> dict[str, Any]:
    """The record as JSON values, without texts."""
    return msgspec.to_builtins(without_texts(record))
