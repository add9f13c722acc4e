"""How late the event loop is while something goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

_TICK: Final = 0.001

Step = Callable[[], Awaitable[object]]


async def worst_lag(work: Step) -> float:
    """Milliseconds that a task was late at worst that wants its turn every millisecond, while the work went on.

    What the process itself did not use of the processor meanwhile is left out: then another program had it. So a thread
    that holds the interpreter counts, and so does the collector of cycles.
    """
    worst = 0.0

    async def tick() -> None:
        nonlocal worst
        last, used = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(_TICK)
            now, now_used = time.perf_counter(), time.process_time()
            worst = max(worst, min(now - last - _TICK, now_used - used))
            last, used = now, now_used

    ticker = asyncio.create_task(tick())
    await asyncio.sleep(_TICK)
    await work()
    await asyncio.sleep(2 * _TICK)  # what came last counts too
    ticker.cancel()
    return worst * 1_000
