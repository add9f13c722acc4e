"""Retrying a model call where that can help, within a bound."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from gemini_companion.engine.errors import ModelFault
from gemini_companion.sessions.ports import Clock

T = TypeVar("T")

ATTEMPTS: Final = 4
"""Attempts of one call, the first included (as Gemini CLI for a stream)."""

DELAYS: Final = (1.0, 2.0, 4.0)
"""Seconds before the second, third and further attempts, unless the service names a delay."""


class RetryBudget:
    """Seconds of waiting that several calls share."""

    def __init__(self, clock: Clock, seconds: float, attempts: int | None = None) -> None:
        """`attempts` of one call, the first included, in place of `ATTEMPTS`."""
        self._clock = clock
        self._left = seconds
        self._attempts = attempts or ATTEMPTS

    def allows(self, fault: ModelFault, attempt: int) -> bool:
        """True if another attempt after number `attempt` (from 1) can help and its delay is within the budget."""
        return fault.retryable and attempt < self._attempts and _delay(fault, attempt) <= self._left

    async def wait_before_retry(self, fault: ModelFault, attempt: int) -> bool:
        """Wait for the delay that is due after attempt number `attempt`, from 1.

        False, without waiting, if another attempt cannot help or its delay exceeds the budget.
        """
        if not self.allows(fault, attempt):
            return False
        delay = _delay(fault, attempt)
        self._left -= delay
        await self._clock.sleep(delay)
        return True

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call until it succeeds. Raises the last `ModelFault`."""
        attempt = 1
        while True:
            try:
                return await call()
            except ModelFault as fault:
                if not await self.wait_before_retry(fault, attempt):
                    raise
                attempt += 1


def _delay(fault: ModelFault, attempt: int) -> float:
    return DELAYS[min(attempt, len(DELAYS)) - 1] if fault.retry_after_ms is None else fault.retry_after_ms / 1000
