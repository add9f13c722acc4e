"""Keeping the event loop free: pure work over large input goes to a thread.

This alone says from which size on. What touches a disk, or waits, goes to a thread whatever its size.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final, TypeAlias, TypeVar, cast

from gemini_companion.sessions.collector import COLLECTOR

T = TypeVar("T")

IN_THREAD_FROM: Final = 2_000
"""Units of work from which on it leaves the event loop: there it would take some five milliseconds. A unit is what one
content takes that is quoted, planned for or folded.
"""
CHARACTERS_A_UNIT: Final = 100
"""Characters of text that are looked through in the time of a unit, or bytes that are read."""


def is_much(units: int) -> bool:
    """Whether so much work would hold up the event loop."""
    return units >= IN_THREAD_FROM


async def off_loop(units: int, work: Callable[[], T]) -> T:
    """Run pure work of so many units; in a thread if they are many, so that the event loop stays responsive.

    There nothing is collected meanwhile: a collection would hold up the loop from whichever thread.
    """
    if not is_much(units):
        return work()
    with uncollected(units):
        return await asyncio.to_thread(work)


async def in_steps(step: Callable[[int], bool]) -> None:
    """Do work that cannot leave the event loop: `step` gets the units to do at once, and says when all is done."""
    while True:
        if step(IN_THREAD_FROM):
            return
        await asyncio.sleep(0)  # others have their turn


def uncollected(units: int, *, makes_what_stays: bool = True) -> AbstractContextManager[object]:
    """Nothing is collected in the block, which may await, if so much work is done in it; see `Collector.paused`."""
    return COLLECTOR.paused(makes_what_stays=makes_what_stays) if is_much(units) else nullcontext()


_loaded: set[str] = set()


async def load(module: str) -> None:
    """Import a module that few need, in a thread: the event loop answers others meanwhile. At once if it was done."""
    if module not in _loaded:
        await asyncio.to_thread(importlib.import_module, module)
        _loaded.add(module)


def load_soon(module: str) -> None:
    """Begin that, without waiting: it will be needed. A fault of it is told to whoever needs it then."""
    if module not in sys.modules:
        asyncio.get_running_loop().run_in_executor(None, _try, module)


def _try(module: str) -> None:
    with suppress(Exception):
        importlib.import_module(module)


Poll: TypeAlias = Callable[[], None]
"""Called often by work that runs in a thread; what it raises ends the work."""


class _Abandoned(Exception):
    """Whoever waited for the work is gone."""


async def in_thread(work: Callable[[Poll], T], units: int = 0) -> T:
    """Run work in a thread. A cancel returns at once; the work ends with its next call of `poll`.

    Work of many units is not held up by collections, as in `off_loop`; what it makes is needed for a while at most.
    """
    abandoned = threading.Event()

    def poll() -> None:
        if abandoned.is_set():
            raise _Abandoned

    def run() -> T | None:
        try:
            return work(poll)
        except _Abandoned:
            return None

    try:
        with uncollected(units, makes_what_stays=False):
            result = await asyncio.to_thread(run)
    except asyncio.CancelledError:
        abandoned.set()
        raise
    return cast("T", result)
