"""Which entries the compressions in force hide from the model, from the entries of compressions and undos alone."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.history.log import CompressionEntry, UndoEntry


class Hiding:
    """What a session's compressions hide; as `History.is_hidden`, but for single entries and without a whole log."""

    def __init__(self, entries: Iterable[CompressionEntry | UndoEntry]) -> None:
        self._in_force: dict[str, CompressionEntry] = {}
        for entry in entries:
            if isinstance(entry, CompressionEntry):
                self._in_force[entry.compression_id] = entry
            else:
                for undone in entry.undone:
                    self._in_force.pop(undone, None)

    def hides(self, seq: int) -> bool:
        """True if a compression in force hides the entry with this number."""
        return any(
            entry.hides is not None and entry.hides[0] <= seq <= entry.hides[1] and seq not in entry.keeps
            for entry in self._in_force.values()
        )
