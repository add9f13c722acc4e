"""Which compactions an undo takes back."""

from __future__ import annotations

from gemini_companion.engine.errors import CheckpointNotFound
from gemini_companion.engine.history.log import CompactionEntry
from gemini_companion.engine.history.view import History


def plan_undo(history: History, compaction_id: str | None) -> tuple[str, ...]:
    """Ids to undo, newest first: the named compaction and all that stand on it; without a name the newest in force.

    One stands on another if it covers it, or has cut an output again that the other one cut. Raises `CheckpointNotFound` if there is
    none, or it is undone already.
    """
    if not history.in_force:
        raise CheckpointNotFound("No compression is in force, so there is nothing to undo.")
    if compaction_id is None:
        compaction_id = next(reversed(history.in_force))
    if compaction_id not in history.in_force:
        known = compaction_id in history.compactions
        raise CheckpointNotFound(
            f"The compression {compaction_id} is undone already." if known else f"There is no compression {compaction_id}.",
            hint="gemini/compression/list names those in force.",
        )
    undone = {compaction_id}
    cuts = _places(history.in_force[compaction_id])
    is_later = False
    for later in history.in_force.values():  # oldest first, so that chains are followed
        if is_later and (undone.intersection(later.covers) or not cuts.isdisjoint(_places(later))):
            undone.add(later.compaction_id)
            cuts |= _places(later)
        is_later = is_later or later.compaction_id == compaction_id
    return tuple(candidate for candidate in reversed(history.in_force) if candidate in undone)


def _places(compaction: CompactionEntry) -> set[tuple[int, int]]:
    return {(cut.seq, cut.part) for cut in compaction.cuts}
