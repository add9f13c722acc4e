"""Whether a computed compression may still be installed: the compare of compare-and-swap."""

from __future__ import annotations

from gemini_companion.engine.history.appending import CONTENT_KINDS
from gemini_companion.engine.history.log import (
    CompressionEntry,
    ConstraintEntry,
    Entry,
    MaskEntry,
    PromptEntry,
    ResumeEntry,
    TurnEndEntry,
    UndoEntry,
    UnpinEntry,
)
from gemini_companion.engine.history.view import History


def is_stale(history: History, planned: CompressionEntry, base_version: int) -> bool:
    """True if the planned span or its cuts were changed after `base_version`, a sequence number.

    A compression, an undo, a truncation or a turn that was rolled back can do that. Contents appended meanwhile do not
    count: they stay after the tail.
    """
    if not _is_base_in_force(history, planned):
        return True
    for entry in reversed(history.entries):
        if entry.seq <= base_version:
            return False
        match entry:
            case CompressionEntry():
                if _touches(entry, planned):
                    return True
            case UndoEntry():
                if any(
                    _touches(history.compressions[undone], planned)
                    for undone in entry.undone
                    if undone in history.compressions
                ):
                    return True
            case MaskEntry():
                cuts = {(cut.seq, cut.part) for cut in planned.cuts}
                if any((cut.seq, cut.part) in cuts for cut in entry.cuts):
                    return True
            case ResumeEntry(reason="clear"):
                return True
            case TurnEndEntry() if entry.outcome != "completed":
                if planned.hides is not None and _had_contents(history, entry, *planned.hides):
                    return True
            case _:
                pass
    return False


def lets_go(entry: Entry) -> bool:
    """Whether it takes a rule back."""
    return isinstance(entry, UnpinEntry) or (
        isinstance(entry, ConstraintEntry) and entry.constraint.state == "released"
    )


def has_let_go(history: History, version: int) -> bool:
    """Whether a rule was taken back after `version`: what was looked at then may go on to state it. A turn that is
    replaced takes those of its prompt along.
    """
    return any(lets_go(entry) or _is_replaced(entry) for entry in history.entries.since(version + 1))


def has_replaced(history: History, version: int) -> bool:
    """Whether a turn was replaced after `version` that was there then, or that set a rule since: what was looked at
    then, or is gated since, may go on to state either.
    """
    later = history.entries.since(version + 1)
    replaced = {entry.turn_id for entry in later if isinstance(entry, TurnEndEntry) and _is_replaced(entry)}
    if not replaced:
        return False
    begun = {entry.turn_id for entry in later if isinstance(entry, PromptEntry)}
    ruled = {entry.by_turn for entry in later if isinstance(entry, ConstraintEntry)}
    return not replaced <= begun or not replaced.isdisjoint(ruled)


def _is_replaced(entry: Entry) -> bool:
    return isinstance(entry, TurnEndEntry) and entry.outcome == "replaced"


def _is_base_in_force(history: History, planned: CompressionEntry) -> bool:
    """False if a covered compression is no longer in force, or one that is hides a part of the span uncovered."""
    if not all(map(history.in_force.__contains__, planned.covers)):
        return False
    if planned.hides is None:
        return True
    first, last = planned.hides
    return not any(
        other.hides is not None
        and other.hides[0] <= last
        and first <= other.hides[1]
        and other.compression_id not in planned.covers
        for other in history.in_force.outermost  # a covered one hides nothing beyond what its coverer does
    )


def _touches(other: CompressionEntry, planned: CompressionEntry) -> bool:
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
    first = max(first, end.kept_to + 1, history.sources.past_to + 1)  # what is put away was never dropped
    contents = history.entries.of(*CONTENT_KINDS, among=lambda seq: first <= seq <= last)
    return any(entry.turn_id == end.turn_id for entry in contents)
