"""Whether what a compaction was computed for still stands: the compare of compare-and-swap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from gemini_companion.engine.history.log import (
    CompactionEntry,
    Entry,
    IdeContextEntry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
    TurnEndEntry,
    UndoEntry,
)
from gemini_companion.engine.history.view import History


def is_stale(history: History, planned: CompactionEntry, base_version: int) -> bool:
    """True if a compaction, an undo, a truncation or a rolled back turn touched the planned span or its cuts after `base_version`.

    Contents appended meanwhile do not count: they stay after the tail.
    """
    if not _stands_on_what_is_in_force(history, planned):
        return True
    for entry in reversed(history.entries):
        if entry.seq <= base_version:
            return False
        match entry:
            case CompactionEntry():
                if _touches(entry, planned):
                    return True
            case UndoEntry():
                if any(_touches(history.compactions[undone], planned) for undone in entry.undone if undone in history.compactions):
                    return True
            case TurnEndEntry() if entry.outcome != "completed":
                if planned.hides is not None and _had_contents(history, entry, *planned.hides):
                    return True
            case _:
                pass
    return False


def _stands_on_what_is_in_force(history: History, planned: CompactionEntry) -> bool:
    """False if a compaction that it covers is gone, or one in force hides a part of the span and is not covered."""
    if not all(covered in history.in_force for covered in planned.covers):
        return False
    if planned.hides is None:
        return True
    first, last = planned.hides
    return not any(
        other.hides is not None and other.hides[0] <= last and first <= other.hides[1] and other.compaction_id not in planned.covers
        for other in history.in_force.values()
    )


def _touches(other: CompactionEntry, planned: CompactionEntry) -> bool:
    cuts = {(cut.seq, cut.part) for cut in planned.cuts}
    if any((cut.seq, cut.part) in cuts for cut in other.cuts):
        return True
    if planned.hides is None:
        return other.hides is not None and any(other.hides[0] <= cut.seq <= other.hides[1] for cut in planned.cuts)
    first, last = planned.hides
    if any(first <= cut.seq <= last for cut in other.cuts):
        return True
    return other.hides is not None and other.hides[0] <= last and first <= other.hides[1]


def _had_contents(history: History, end: TurnEndEntry, first: int, last: int) -> bool:
    """Whether contents that the turn's end dropped stood in the span."""
    low = bisect_left(history.entries, first, key=_seq)
    high = bisect_right(history.entries, last, key=_seq)
    return any(
        isinstance(entry, PromptEntry | ReplyEntry | ToolResultEntry | IdeContextEntry) and entry.turn_id == end.turn_id and entry.seq > end.kept_to
        for entry in history.entries[low:high]
    )


def _seq(entry: Entry) -> int:
    return entry.seq
