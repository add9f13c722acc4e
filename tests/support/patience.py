"""How long a test waits for what must happen."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Final

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


async def until_in(function: Callable[..., Any], tasks: int = 1) -> None:
    """Wait until so many tasks wait within this coroutine function, in it or in what it awaits.

    For what shows nowhere else: that somebody has joined, or stands in a queue. How many steps of the loop they need to
    get there is nobody's promise.
    """
    await until(lambda: sum(_waits_in(task.get_coro(), function) for task in asyncio.all_tasks()) == tasks)


def _waits_in(coroutine: Any, function: Callable[..., Any]) -> bool:
    """Whether a coroutine has begun, and it or what it awaits is one of this function."""
    if inspect.getcoroutinestate(coroutine) != inspect.CORO_SUSPENDED:
        return False
    while coroutine is not None:
        if getattr(coroutine, "cr_code", None) is function.__code__:
            return True
        coroutine = getattr(coroutine, "cr_await", None)
    return False
