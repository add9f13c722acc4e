"""CPU time of one call, in the seconds of one known machine: a slow or busy one decides no verdict."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable
from typing import Final

YARDSTICK: Final = 0.005
"""Seconds that `_known_work` takes where the limits of the tests were set (a server's core, idle)."""
_WORDS: Final = re.compile(r"\b(?:[a-z]{2,9}_\d{1,4}|(?=[0-9a-f]{0,9}\d)[0-9a-f]{4,8})\b")
_TEXT: Final = "build_12 deadbee1 words, " * 1_600


def _known_work() -> None:
    deque(_WORDS.finditer(_TEXT), maxlen=0)
    counts: dict[str, int] = {}
    for number in range(30_000):
        key = _TEXT[number : number + 3]
        counts[key] = counts.get(key, 0) + 1


def _least(work: Callable[[], object], *, enough: float, repeats: int) -> float:
    least = float("inf")
    for _ in range(repeats):
        begin = time.thread_time()
        work()
        least = min(least, time.thread_time() - begin)
        if least < enough:
            break
    return least


def slowness() -> float:
    """How many times slower this machine is just now than the known one; 1 for a faster one.

    A thread's CPU time grows too where others share its core, its caches or its host, twofold and more.
    """
    return max(1.0, _least(_known_work, enough=0.0, repeats=3) / YARDSTICK)


def cpu_seconds(work: Callable[[], object], *, enough: float = 0.0, repeats: int = 3) -> float:
    """The least CPU time of `repeats` calls in seconds of the known machine.

    It stops as soon as one takes less than `enough`, and only a time over it is set against what known work takes now.
    """
    least = _least(work, enough=enough, repeats=repeats)
    return least if least < enough else least / slowness()


def may_exceed(limit: float, size: int, cheap: tuple[int, float], dear: tuple[int, float]) -> bool:
    """Whether a text of `size` characters may cost more than a quarter of `limit` seconds.

    `cheap` and `dear` are size and cost of two shorter ones, the second the longer. Through them goes the parabola of
    work that is in part linear and in part quadratic; a false yes costs one more try and decides nothing.
    """
    (less, low), (more, high) = cheap, dear
    bend = max(0.0, (high / more - low / less) / (more - less))
    slope = max(0.0, high / more - bend * more)
    return slope * size + bend * size * size > limit / 4
