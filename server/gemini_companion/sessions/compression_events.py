"""The events of compressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from gemini_companion.engine.history.log import CompressionResult, Trigger
from gemini_companion.sessions.event import SessionEvent

Phase: TypeAlias = Literal["hook", "truncating", "summarising", "verifying", "repairing", "counting", "installing"]
PHASE_TEXTS: Final[Mapping[Phase, str]] = {
    "hook": "Asking hooks",
    "truncating": "Shortening tool outputs",
    "summarising": "Summarising",
    "verifying": "Checking the summary",
    "repairing": "Asking again",
    "counting": "Counting tokens",
    "installing": "Installing",
}
"""What each phase is called for people, in English."""


class CompressionStarted(SessionEvent, tag="compressionStarted", frozen=True, kw_only=True):
    """A compression runs."""

    compression_id: str
    trigger: Trigger
    behind_turn: str | None = None
    """The turn under way, if its prompt stands in the history already: so the compression stands behind that."""


class CompressionProgress(SessionEvent, tag="compressionProgress", frozen=True, kw_only=True):
    """A compression entered a phase; `block` of `blocks`, from 1, where the history is summarised in several."""

    compression_id: str
    phase: Phase
    elapsed_ms: int
    block: int | None = None
    blocks: int | None = None


class CompressionCompleted(SessionEvent, tag="compressionCompleted", frozen=True, kw_only=True):
    """A compression ended as planned, or found nothing to do. The id is that of its `compressionStarted`."""

    compression_id: str
    result: CompressionResult


class CompressionFailed(SessionEvent, tag="compressionFailed", frozen=True, kw_only=True):
    """A compression changed nothing, and why. The id is that of its `compressionStarted`."""

    compression_id: str
    result: CompressionResult


class CompressionCancelled(SessionEvent, tag="compressionCancelled", frozen=True, kw_only=True):
    """A compression was cancelled; nothing was changed."""

    compression_id: str


class CompressionPrepared(SessionEvent, tag="compressionPrepared", frozen=True, kw_only=True):
    """A compression is ready to be installed once the trigger is reached; nothing was changed. Token counts are of the
    whole request as it was counted, and as it would be.
    """

    compression_id: str
    tokens_before: int
    tokens_after: int


class CompressionUndone(SessionEvent, tag="compressionUndone", frozen=True, kw_only=True):
    """Compressions were taken out of force; ids, newest first."""

    undone: tuple[str, ...]


class ChatCompressed(SessionEvent, tag="chatCompressed", frozen=True, kw_only=True):
    """The history is shorter now."""

    tokens_before: int
    tokens_after: int
    trigger: Trigger
