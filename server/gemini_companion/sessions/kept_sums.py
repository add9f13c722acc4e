"""Sums of sessions, kept beside their logs: what statistics need of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class KeptSums(NamedTuple):
    """A session's sums as they are kept."""

    session_id: str
    newest: int
    """The number of the newest entry that they have in them."""
    data: bytes
    """`engine.statistics.sums`, encoded."""


class SumsStore(Protocol):
    """Sums of sessions, made of their logs and kept beside them. Every method raises `StorageFault`."""

    async def newest(self) -> dict[str, int]:
        """The number of each session's newest entry, 0 for one without."""
        ...

    async def load(self, wanted: Mapping[str, int]) -> dict[str, bytes]:
        """What is kept of sessions as of these numbers of entries; nothing of those that have gone on."""
        ...

    async def save(self, kept: Sequence[KeptSums]) -> None:
        """Keep the sums of sessions that are still there, in place of what was kept of them."""
        ...
