"""Which entries leave the view's epoch alone."""

from __future__ import annotations

from gemini_companion.engine.history.log import ContentEntry, Entry, TurnEndEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import (
    ChangeEntry,
    KeptEntry,
    SteerOfferedEntry,
    TodosEntry,
    ToolCallEntry,
)


def only_appends(entry: Entry) -> bool:
    """True for the entries of which a log mostly consists: they add to the view or leave it as it is."""
    ended_well = isinstance(entry, TurnEndEntry) and entry.outcome == "completed"
    return ended_well or isinstance(
        entry, ContentEntry | ToolCallEntry | SteerOfferedEntry | ChangeEntry | KeptEntry | TodosEntry | ModelCallEntry
    )
