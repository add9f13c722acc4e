"""Which compressions in force stand for themselves: a later one that hides an earlier one's snapshot covers it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import CompressionEntry


class InForce(Fold, Mapping[str, CompressionEntry]):
    """The compressions in force by id, oldest first. Those that no other covers are found once for each change."""

    def __init__(self) -> None:
        self._held: dict[str, CompressionEntry] = {}
        self._outermost: list[CompressionEntry] | None = None

    @property
    def outermost(self) -> Sequence[CompressionEntry]:
        """Those that no other one covers, oldest first: few, however many there are. Not to be changed."""
        if self._outermost is None:
            self._outermost = outermost(self._held.values())
        return self._outermost

    def add(self, compression: CompressionEntry) -> None:
        """Install one: the newest."""
        self._held[compression.compression_id] = compression
        self._outermost = None

    def remove(self, compression_ids: Iterable[str]) -> None:
        """Take these out, as far as they are in."""
        for compression_id in compression_ids:
            self._held.pop(compression_id, None)
        self._outermost = None

    def __getitem__(self, compression_id: str) -> CompressionEntry:
        return self._held[compression_id]

    def __contains__(self, compression_id: object) -> bool:
        return compression_id in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._held)

    def __len__(self) -> int:
        return len(self._held)


def outermost(in_force: Iterable[CompressionEntry]) -> list[CompressionEntry]:
    """Those of these compressions that no other one of them covers, in their order."""
    every = list(in_force)
    covered = {covered_id for compression in every for covered_id in compression.covers}
    return [compression for compression in every if compression.compression_id not in covered]


def outermost_of(in_force: Mapping[str, CompressionEntry]) -> Sequence[CompressionEntry]:
    """The same of a mapping by id: those of a history, or as they would be."""
    return in_force.outermost if isinstance(in_force, InForce) else outermost(in_force.values())
