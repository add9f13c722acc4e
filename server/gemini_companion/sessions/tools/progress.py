"""The progress of a running tool, as events: folded to a few a second, and bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

INTERVAL_SECONDS: Final = 0.1
"""Seconds between two events of one call."""

PIECE_CHARACTERS: Final = 8_000
"""Characters of one event at most: of more output at once the end."""

TOTAL_CHARACTERS: Final = 200_000
"""Characters that the events of one call have at most; the result has its own limit."""

_LEFT_OUT: Final = "\n[… left out …]\n"
_NO_MORE: Final = "\n[… no more is shown until it ends …]\n"


class Progress:
    """Takes the output of one call in pieces of any size, and passes it on through `emit`. Close it when it ends."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._waiting: list[str] = []
        self._length = 0
        self._left = TOTAL_CHARACTERS
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def add(self, output: str) -> None:
        """New output. Costs the same however much there was before."""
        if self._is_closed or not output or self._left <= 0:
            return
        self._waiting.append(output)
        self._length += len(output)
        if self._length > 2 * PIECE_CHARACTERS:
            self._waiting = [self._tail()]
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._on_time)

    def close(self) -> None:
        """Pass on what waits. Nothing is emitted afterwards."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flush()
        self._is_closed = True

    def _on_time(self) -> None:
        self._timer = None
        if self._waiting:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._on_time)

    def _flush(self) -> None:
        if not self._waiting:
            return
        text = self._tail()
        self._waiting, self._length = [], 0
        self._left -= len(text)
        self._emit(text if self._left > 0 else text + _NO_MORE)

    def _tail(self) -> str:
        text = "".join(self._waiting)
        return text if len(text) <= PIECE_CHARACTERS else _LEFT_OUT + text[-PIECE_CHARACTERS:]
