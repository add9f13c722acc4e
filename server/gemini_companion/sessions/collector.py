"""Keeping the collector of cycles away from long histories: it would go through all of them while people wait.

A full collection takes some 45 ms for 10,000 contents, whichever thread it falls into, and holds up all others. What
long histories are made of, and what is found out about them, goes when nobody has it any more, without being
collected; only what holds it has cycles.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_TRIES: Final = 3
_PAUSES: Final = 100
"""What is left out so often may have cycles that nobody needs; then it is gone through once, when nothing runs."""
MUCH: Final = 10_000
"""Objects that are there more than when a pause began, from which on they are left out: to go through so many takes a
millisecond, and what went on beside the pause has cycles too, which are to be found.
"""


class Collector:
    """The collector of cycles, of which a process has one: `COLLECTOR`. For the thread of the event loop."""

    def __init__(self) -> None:
        self._pauses = 0
        self._was_on = True
        self._leaves_out = False
        """Whether one of the pauses under way makes what stays."""
        self._left_out = 0
        """How often something was left out since everything was gone through."""
        self._gone: list[tuple[weakref.ref[object], int]] = []
        """What held long histories that were left out, and how often it is still looked for."""

    @contextmanager
    def paused(self, *, makes_what_stays: bool = True) -> Generator[None]:
        """Nothing is collected in this block, which may await; several may at once.

        If much was made until the end of all of them, and one makes what stays, what is there then is left out until
        `collect`: cycles that nobody needs, too, and those are never found in a chat that is never at rest.
        """
        if self._pauses == 0:
            self._was_on = gc.isenabled()
            gc.disable()
            self._leaves_out = False
        self._pauses += 1
        self._leaves_out = self._leaves_out or makes_what_stays
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0:
                if (
                    self._leaves_out and gc.get_count()[0] >= MUCH
                ):  # the youngest: what was made meanwhile, and is still there
                    self.leave_out()
                if self._was_on:
                    gc.enable()

    def leave_out(self) -> None:
        """What is there now is gone through by nobody until `collect`."""
        gc.freeze()
        self._left_out += 1

    def has_gone(self, history: object) -> None:
        """What holds a long history was let go."""
        self._gone.append((weakref.ref(history), _TRIES))

    def collect(self) -> None:
        """Find what is left of long histories that went. Holds up everything: for when nothing runs."""
        if self._pauses:
            return
        if self._left_out >= _PAUSES or any(gone() is not None for gone, _ in self._gone):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._left_out = 0
        # Some work in a thread may have held one until now.
        self._gone = [(gone, tries - 1) for gone, tries in self._gone if gone() is not None and tries > 1]


COLLECTOR: Final = Collector()
"""The process's."""
