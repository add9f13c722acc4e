"""Choosing the compressions that an undo takes out of force."""

from __future__ import annotations

from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.view import History


def plan_undo(history: History, compression_id: str | None) -> tuple[str, ...]:
    """Ids to undo, newest first: the named compression and all that stand on it; without a name the newest in force.

    One stands on another if it covers it, or has cut an output again that the other one cut. Raises
    `CompressionNotFound` if there is none, or it is undone already.
    """
    if not history.in_force:
        raise CompressionNotFound("No compression is in force, so there is nothing to undo.")
    if compression_id is None:
        compression_id = next((key for key in reversed(history.in_force) if can_undo(history.in_force[key])), None)
        compression_id = compression_id or next(reversed(history.in_force))
    if compression_id not in history.in_force:
        known = compression_id in history.compressions
        raise CompressionNotFound(
            (
                f"The compression {compression_id} is undone already."
                if known
                else f"There is no compression {compression_id}."
            ),
            hint="gemini/compression/list names those in force.",
        )
    if not can_undo(history.in_force[compression_id]):
        raise CompressionNotFound(
            "This compression cannot be undone: it came with the file that the chat was imported from, and what it had"
            " replaced did not."
        )
    undone = {compression_id}
    cuts = _cut_outputs(history.in_force[compression_id])
    is_later = False
    for later in history.in_force.values():  # oldest first, so that chains are followed
        if is_later and (undone.intersection(later.covers) or not cuts.isdisjoint(_cut_outputs(later))):
            undone.add(later.compression_id)
            cuts |= _cut_outputs(later)
        is_later = is_later or later.compression_id == compression_id
    return tuple(candidate for candidate in reversed(history.in_force) if candidate in undone)


def can_undo(compression: CompressionEntry) -> bool:
    """False for one that came with an imported file: what it replaced was never here."""
    return not compression.from_file


def _cut_outputs(compression: CompressionEntry) -> set[tuple[int, int]]:
    return {(cut.seq, cut.part) for cut in compression.cuts}
