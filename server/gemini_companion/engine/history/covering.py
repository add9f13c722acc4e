"""Which compressions in force stand for themselves: a later one that hides an earlier one's snapshot covers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gemini_companion.engine.history.log import CompressionEntry


class InForce(dict[str, CompressionEntry]):
    """The compressions in force by id, oldest first. Those that no other covers are found once for each change."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._outermost: Sequence[CompressionEntry] | None = None

    @property
    def outermost(self) -> Sequence[CompressionEntry]:
        """Those that no other one covers, oldest first: few, however many there are. Not to be changed."""
        if self._outermost is None:
            self._outermost = _outermost(self.values())
        return self._outermost

    def __setitem__(self, key: str, value: CompressionEntry) -> None:
        super().__setitem__(key, value)
        self._outermost = None

    def remove(self, key: str) -> None:
        """Take one out, if it is in."""
        if super().pop(key, None) is not None:
            self._outermost = None

    def copy(self) -> InForce:
        """One of its own with the same ones."""
        return InForce(self)


def outermost(in_force: Mapping[str, CompressionEntry]) -> Sequence[CompressionEntry]:
    """Those that no other one covers, in their order."""
    return in_force.outermost if isinstance(in_force, InForce) else _outermost(in_force.values())


def _outermost(in_force: Iterable[CompressionEntry]) -> Sequence[CompressionEntry]:
    every = list(in_force)
    covered = {covered_id for compression in every for covered_id in compression.covers}
    return [compression for compression in every if compression.compression_id not in covered]
