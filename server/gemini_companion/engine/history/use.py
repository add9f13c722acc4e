"""Which entries say that somebody used a session: a person or a model did something.

Opening one writes entries too: what a crash left open is ended, the project's rules are taken in. When a session was
used last, and so when it goes, must not move with these.
"""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.history.log import (
    ConstraintEntry,
    Entry,
    PreviewEntry,
    PromptEntry,
    ResumeEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry


def is_use(entry: Entry) -> bool:
    """Whether a person or a model did something when this was written; false for what the daemon notes by itself."""
    match entry:
        case ResumeEntry():
            return entry.reason == "clear"
        case TurnEndEntry():
            return entry.outcome != "interrupted"
        case ToolResultEntry():
            return not entry.calls or any(call.outcome != "interrupted" for call in entry.calls)
        case PromptEntry():
            return not entry.steer_id  # else it was said when it was offered
        case ChangeEntry():
            return bool(entry.reverts)  # else its call says so
        case ModelCallEntry():
            return entry.purpose != "preparing"  # of a compression that nobody asked for
        case PreviewEntry():
            return entry.compression.result.trigger != "background"
        case ConstraintEntry():
            return entry.constraint.scope == "session"  # a rule of the project's comes with every opening
        case _:
            return True


def last_use(entries: Iterable[Entry]) -> int | None:
    """When the session was used last, ms since 1970, as far as these say; `None` if they say nothing of it."""
    return max((entry.time for entry in entries if is_use(entry)), default=None)
