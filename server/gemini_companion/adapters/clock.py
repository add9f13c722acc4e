"""The system's clock."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Real time."""

    def now(self) -> int:
        """Milliseconds since 1970 (UTC)."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds from an arbitrary point; never goes backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""
        await asyncio.sleep(seconds)
