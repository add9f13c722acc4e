"""What is told of the changes of a command: to people, and to the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.history.tool_entries import FileChange
from gemini_companion.sessions.tools.changes_noticed import MOST_LISTED, Noticed
from gemini_companion.sessions.tools.changes_numbers import is_folder
from gemini_companion.tools.paths import shown_path
from gemini_companion.tools.tool import ToolContext

_MOST_TOLD: Final = 20
"""Files that are told of by name."""
_NOT_LISTED: Final = (
    "What commands did outside the workspace folders, and to files that are ignored, is not listed and cannot be taken"
    " back. Nor is what one did later that was left running."
)


def note_of(found: Noticed, by_person: Sequence[str], context: ToolContext) -> str:
    """What people are told of the changes of a command; `by_person` are the files that they saved meanwhile."""
    notes = [_NOT_LISTED]
    if by_person:
        saved = ", ".join(_shown(path, context) for path in by_person[:_MOST_TOLD])
        notes.insert(0, f"You saved {saved} while a command ran: that is not listed as the command's.")
    if len(found.paths) > MOST_LISTED:
        notes.append(f"A command changed {len(found.paths) - MOST_LISTED:,} more files than are listed.")
    if found.is_partial:
        notes.append("The workspace is too large to be looked at whole: a command may have changed more.")
    return " ".join(notes)


def told(context: ToolContext, changes: Iterable[FileChange], more: int) -> str:
    """The changed files, for the model."""
    shown: list[str] = []
    for change in changes:
        if not is_folder(change):
            name = _shown(change.path, context)
            source = f" from {_shown(change.from_path, context)}" if change.from_path else ""
            shown.append(f"{name} ({change.kind}{source})")
    more = max(more, 0) + max(len(shown) - _MOST_TOLD, 0)
    return ", ".join([*shown[:_MOST_TOLD], *([f"and {more:,} more"] if more else [])])


def _shown(path: str, context: ToolContext) -> str:
    return one_line(shown_path(path, context.roots))
