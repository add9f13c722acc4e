"""Whether what a compaction was computed for still stands: the compare of compare-and-swap."""

from __future__ import annotations

from gemini_companion.engine.history.log import CompactionEntry, TurnEndEntry, UndoEntry
from gemini_companion.engine.history.view import History


def is_stale(history: History, planned: CompactionEntry, base_version: int) -> bool:
    """True if a compaction, an undo, a truncation or a rolled back turn touched the planned span or its cuts after `base_version`.

    Contents appended meanwhile do not count: they stay after the tail.
    """
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
    return any(
        first <= entry.seq <= last and entry.seq > end.kept_to and getattr(entry, "turn_id", None) == end.turn_id and hasattr(entry, "content")
        for entry in history.entries[first - 1 : last]
    )
