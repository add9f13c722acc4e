"""Simulated time: an event loop that leaps over what is only waited for, and whose clock else counts processor time.

So a wait is the same on a busy machine and on an idle one, and an hour of waiting passes at once.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from tests.support.sessions import ManualClock

T = TypeVar("T")


def run_simulated(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in simulated time. Nothing in it may wait for another process."""
    with asyncio.Runner(loop_factory=_LeapingLoop) as runner:
        return runner.run(work)


class LoopClock(ManualClock):
    """The clock of the services, by the time of the loop that runs."""

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Leaping(selectors.DefaultSelector):
    """Waits for nothing: where there is only a timer to wait for, its time has come."""

    leapt = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(0)
        if not ready:
            self.leapt += timeout
        return ready


class _AtOnce(ThreadPoolExecutor):
    """Does the work where it is asked for: what is measured is as if it were always waited for."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as fault:  # it is whoever asked that hears of it
            future.set_exception(fault)
        return future


class _LeapingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)
        self.set_default_executor(_AtOnce())

    def time(self) -> float:
        """Seconds of this process's processor time, and those that were leapt over."""
        return time.process_time() + self._leaping.leapt
