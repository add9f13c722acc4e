"""CPU time of one call."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], *, enough: float = 0.0, repeats: int = 3) -> float:
    """The least CPU time of `repeats` calls in seconds; it stops as soon as one takes less than `enough`."""
    least = float("inf")
    for _ in range(repeats):
        begin = time.thread_time()
        work()
        least = min(least, time.thread_time() - begin)
        if least < enough:
            break
    return least
