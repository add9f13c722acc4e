"""A clock that stands still but for what somebody waits for, which passes at once."""

from __future__ import annotations

import asyncio
from typing import Final

_START_MS: Final = 1_750_000_000_000


class VirtualClock:
    """A `sessions.ports.Clock` whose time is the same in every run."""

    def __init__(self) -> None:
        self._ms = float(_START_MS)

    def now(self) -> int:
        """Milliseconds since 1970 (UTC)."""
        return round(self._ms)

    def monotonic(self) -> float:
        """Seconds from an arbitrary point."""
        return self._ms / 1000

    async def sleep(self, seconds: float) -> None:
        """Let so much time pass, at once."""
        self.pass_time(seconds)
        await asyncio.sleep(0)

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self._ms += seconds * 1000
