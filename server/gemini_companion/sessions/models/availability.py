"""Which models cannot answer at the moment, and until when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

SHORTEST_SECONDS: Final = 60.0
"""Seconds for which a model is left alone after its first fault, unless the service names a time."""

LONGEST_SECONDS: Final = 3_600.0
"""The same after several in a row: each is twice as long as the one before."""


@dataclass(slots=True)
class _Outage:
    until: float
    times: int


class Availability:
    """Faults of models by name. No model is asked whether it is back: the next prompt after its time goes to it."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.now = now
        """Seconds on a monotonic clock."""
        self._outages: dict[str, _Outage] = {}

    def is_available(self, model: str) -> bool:
        """Whether it is worth asking this model."""
        outage = self._outages.get(model)
        return outage is None or outage.until <= self.now()

    def seconds_left(self, model: str) -> float:
        """Seconds until it is asked again, 0 if it is available."""
        outage = self._outages.get(model)
        return max(0.0, outage.until - self.now()) if outage is not None else 0.0

    def failed(self, model: str, retry_after_ms: int | None) -> None:
        """The model could not answer; the service may have named when it can."""
        before = self._outages.get(model)
        if before is not None and before.until > self.now():
            return  # told already, by another session
        times = before.times + 1 if before is not None else 1
        seconds = min(LONGEST_SECONDS, SHORTEST_SECONDS * 2.0 ** min(times - 1, 20))
        if retry_after_ms is not None:
            seconds = max(1.0, retry_after_ms / 1000)
        self._outages[model] = _Outage(self.now() + seconds, times)

    def answered(self, model: str) -> None:
        """The model has answered: it is as good as new."""
        self._outages.pop(model, None)
