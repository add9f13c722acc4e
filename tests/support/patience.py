"""How long a test waits for what must happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 60.0
"""Seconds after which a wait counts as a hang. No test waits this long unless something is broken: it is no measure of
speed, so it is the same everywhere, and far above what the busiest machine needs.
"""
MODEL_PATIENCE: Final = 10 * PATIENCE
"""The same for an answer of a model that runs on this machine: it shares the processor with all the rest."""


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; everything else runs meanwhile."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0)
