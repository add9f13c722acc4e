"""How far a turn came: what of it stays if it ends early, and what it still has to do."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_companion.engine.history.log import (
    ContentEntry,
    Entry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.part import has_call
from gemini_companion.engine.history.tool_entries import SteerEntry


def finished_to(entries: Sequence[Entry], turn_id: str) -> int:
    """Sequence number of the last entry of the turn's finished rounds, 0 if it has none."""
    for entry in reversed(entries):
        if isinstance(entry, ContentEntry) and entry.turn_id == turn_id:
            if isinstance(entry, ToolResultEntry | SteerEntry):
                return entry.seq
            if isinstance(entry, PromptEntry):
                return 0
    return 0


def open_reply(entries: Sequence[Entry], turn_id: str, *, before: int | None = None) -> ReplyEntry | None:
    """The turn's newest answer if it calls tools and no results follow it, else `None`.

    Only the first `before` entries count.
    """
    for index in range(len(entries) if before is None else before, 0, -1):
        entry = entries[index - 1]
        if isinstance(entry, ContentEntry) and entry.turn_id == turn_id:
            if isinstance(entry, ReplyEntry):
                return entry if has_call(entry.content) else None
            if isinstance(entry, ToolResultEntry | PromptEntry | SteerEntry):
                return None
    return None


def last_end(entries: Sequence[Entry], turn_id: str) -> TurnEndEntry | None:
    """How the turn ended last; `None` if it has not, or if it went on afterwards."""
    for entry in reversed(entries):
        if isinstance(entry, TurnEndEntry) and entry.turn_id == turn_id:
            return entry
        if isinstance(entry, ContentEntry) and entry.turn_id == turn_id:
            return None
    return None
