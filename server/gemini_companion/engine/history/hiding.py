"""Which entries the compressions in force hide from the model, from the entries of compressions and undos alone."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.history.log import CompressionEntry, Entry, ResumeEntry, UndoEntry
from gemini_companion.engine.history.sources import Sources


def in_force(entries: Iterable[Entry]) -> dict[str, CompressionEntry]:
    """The compressions in force by id, oldest first, behind entries in order.

    Of the end of a log these are all that can hide a content of it: a compression hides what was there before it.
    """
    found: dict[str, CompressionEntry] = {}
    for entry in entries:
        match entry:
            case CompressionEntry():
                found[entry.compression_id] = entry
            case UndoEntry():
                for undone in entry.undone:
                    found.pop(undone, None)
            case ResumeEntry(reason="clear"):
                found = {}
            case _:
                pass
    return found


class Hiding:
    """What a session's compressions hide; as `History.is_hidden`, but for single entries and without a whole log."""

    def __init__(self, entries: Iterable[CompressionEntry | UndoEntry]) -> None:
        self._in_force = in_force(entries)

    def hides(self, seq: int) -> bool:
        """True if a compression in force hides the entry with this number."""
        return any(
            entry.hides is not None and entry.hides[0] <= seq <= entry.hides[1] and seq not in entry.keeps
            for entry in self._in_force.values()
        )


def hides_turn(in_force: Iterable[CompressionEntry], sources: Sources, turn_id: str) -> bool:
    """True if one of these compressions hides a content of the turn."""
    seqs = [seq for seq, turn, kind in sources.places() if turn == turn_id and kind != "ide"]
    hiding = [(*entry.hides, entry.keeps) for entry in in_force if entry.hides is not None]
    return any(first <= seq <= last and seq not in keeps for seq in seqs for first, last, keeps in hiding)
