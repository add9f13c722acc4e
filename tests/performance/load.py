"""How much of the machine others had: what the processors did, less what this process and those that it started did."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tests.performance.timing import descendants

SHORTEST: Final = 1.0
"""Seconds of all processors together below which the kernel's hundredths say too little."""


class OthersWork:
    """Reads the share of others from time to time. All of it is `None` where the system does not tell."""

    def __init__(self) -> None:
        self._begun = self._last = _read()
        self._share: float | None = None

    def share(self) -> float | None:
        """The share of all processors that others had since the last call, 0 to 1; of the one before where that is too
        short to say.
        """
        now = _read()
        if now is None or self._last is None:
            return None
        if now[0] - self._last[0] >= SHORTEST or self._share is None:
            self._share = _between(self._last, now)
            self._last = now
        return self._share

    def whole(self) -> float | None:
        """The same since this was made."""
        now = _read()
        return None if now is None or self._begun is None else _between(self._begun, now)


def run_queue() -> float | None:
    """How many processes wanted a processor on average in the last minute."""
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return None


def _between(before: tuple[float, float, float], after: tuple[float, float, float]) -> float:
    passed, busy, ours = (b - a for a, b in zip(before, after, strict=True))
    return min(1.0, max(0.0, busy - ours) / passed) if passed > 0 else 0.0


def _read() -> tuple[float, float, float] | None:
    """Seconds of all processors: passed, at work for anybody, at work for us."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()[1:9]]
        ticks = os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None
    idle = fields[3] + fields[4]  # nothing to do, or nothing but a disk to wait for
    own = os.times()
    ours = own.user + own.system + own.children_user + own.children_system
    ours += sum(_used(pid) for pid in descendants(os.getpid())) / ticks
    return sum(fields) / ticks, (sum(fields) - idle) / ticks, ours


def _used(pid: int) -> int:
    """Ticks of a living process and of those of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])
