"""Which entries leave the view's epoch alone."""

from __future__ import annotations

from typing import Final, cast, get_args

from gemini_companion.engine.history.log import ContentEntry, Entry, TurnEndEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import (
    ChangeEntry,
    KeptEntry,
    SteerOfferedEntry,
    TodosEntry,
    ToolCallEntry,
)

CONTENT_KINDS: Final = frozenset(cast("tuple[type[ContentEntry], ...]", get_args(ContentEntry)))
"""The entries that add a content to the view."""

_APPENDING: Final = CONTENT_KINDS | {
    ToolCallEntry,
    SteerOfferedEntry,
    ChangeEntry,
    KeptEntry,
    TodosEntry,
    ModelCallEntry,
}
TURN_KINDS: Final = CONTENT_KINDS | {ToolCallEntry, ModelCallEntry, TurnEndEntry}
"""Contents, tool calls, model calls and ends of turns: most of every log."""


def only_appends(entry: Entry) -> bool:
    """True for the entries of which a log mostly consists: they add to the view or leave it as it is."""
    return type(entry) in _APPENDING or (isinstance(entry, TurnEndEntry) and entry.outcome == "completed")
