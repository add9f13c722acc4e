"""Waiting without sleeping, between the emulator's thread and a test's, whether that test is async or not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TypeVar

from tests.support.patience import PATIENCE

T = TypeVar("T")


class Watch:
    """Futures that are fulfilled once something can be found."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._probes: list[Callable[[], bool]] = []

    def when(self, find: Callable[[], T | None]) -> Future[T]:
        """A future of what `find` returns, as soon as it is not `None`; `find` is called at every change."""
        future: Future[T] = Future()

        def probe() -> bool:
            if not future.done() and (found := find()) is not None:
                with suppress(InvalidStateError):  # cancelled this very moment
                    future.set_result(found)
            return future.done()

        with self._lock:
            if not probe():
                self._probes.append(probe)
        return future

    def changed(self) -> None:
        """Look again."""
        with self._lock:
            self._probes = [probe for probe in self._probes if not probe()]


class Gate:
    """A place in a reply where the emulator stops until the test lets it go on. Once open it stays open."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._released = threading.Event()
        self._watch = Watch()

    def release(self) -> None:
        """Let whoever waits here, or comes here, go on."""
        self._released.set()
        self._watch.changed()

    @property
    def reached(self) -> bool:
        """True once the emulator has been here."""
        return self._reached.is_set()

    async def wait_reached(self) -> None:
        """Wait until the emulator has sent everything before the gate."""
        await asyncio.wait_for(asyncio.wrap_future(self._watch.when(lambda: self._reached.is_set() or None)), PATIENCE)

    async def pass_through(self) -> None:
        """The emulator's side."""
        self._reached.set()
        self._watch.changed()
        await asyncio.wrap_future(self._watch.when(lambda: self._released.is_set() or None))
