"""How slow the machine is just now, measured beside the daemons with things that are none of theirs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path
from typing import Final

KEPT: Final = 4_000
BETWEEN: Final = 0.05
"""Seconds between two rounds."""
FILE_EVERY: Final = 10
"""Every so many rounds a file is written and synced too."""


class Control:
    """Rounds of an echo by a bare process, and of a small file that is synced, each timed. `folder` takes the file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "control"
        self._rounds: list[tuple[float, float]] = []
        """Begin and end of each, seconds on the monotonic clock."""

    async def run(self) -> None:
        """Go round until cancelled."""
        process = await asyncio.create_subprocess_exec(
            "cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdin is not None
        assert process.stdout is not None
        number = 0
        try:
            while True:
                number += 1
                begun = time.monotonic()
                self._rounds.append((begun, float("inf")))
                process.stdin.write(b"?\n")
                await process.stdout.readline()
                if number % FILE_EVERY == 0:
                    await asyncio.to_thread(self._sync)
                self._rounds[-1] = (begun, time.monotonic())
                del self._rounds[:-KEPT]
                await asyncio.sleep(BETWEEN)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def slowest(self, since: float) -> float:
        """Seconds of the slowest round that ended after `since`."""
        now = time.monotonic()
        return max((min(end, now) - begun for begun, end in self._rounds if min(end, now) > since), default=0.0)

    def _sync(self) -> None:
        with open(self._file, "wb") as file:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
