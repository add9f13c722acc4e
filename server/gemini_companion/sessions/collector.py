"""Keeping the collector of cycles away from long histories: it would go through all of them while people wait.

A full collection takes some 45 ms for 10,000 contents, whichever thread it falls into, and holds up all others. What
long histories are made of goes when nobody has it any more, without being collected; only what holds it has cycles.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from gemini_companion.sessions.threads import is_much

_TRIES: Final = 3


class Collector:
    """The collector of cycles, of which a process has one."""

    def __init__(self) -> None:
        self._building = 0
        self._was_on = True
        self._gone: list[tuple[weakref.ref[object], int]] = []
        """What held long histories that were left out, and how often it is still looked for."""

    @contextmanager
    def building(self, size: int) -> Generator[None]:
        """A history of `size` entries is built in this block, which may await; several may at once.

        While a long one is, nothing is collected; what is there at the end is left out until `collect`.
        """
        with self.resting(size):
            try:
                yield
            finally:
                if is_much(size):
                    gc.freeze()

    @contextmanager
    def resting(self, size: int) -> Generator[None]:
        """Nothing is collected in this block, which may await, if so many units of work are done in it."""
        if not is_much(size):
            yield
            return
        if self._building == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._building += 1
        try:
            yield
        finally:
            self._building -= 1
            if self._building == 0 and self._was_on:
                gc.enable()

    def has_gone(self, history: object, size: int) -> None:
        """What holds a history of so many entries was let go."""
        if is_much(size):
            self._gone.append((weakref.ref(history), _TRIES))

    def collect(self) -> None:
        """Find what is left of long histories that went. Holds up everything: for when nothing runs."""
        if self._building:
            return
        if any(gone() is not None for gone, _ in self._gone):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        # Some work in a thread may have held one until now.
        self._gone = [(gone, tries - 1) for gone, tries in self._gone if gone() is not None and tries > 1]
