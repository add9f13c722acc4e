"""Asking hooks about an answer while it streams, so that one that is refused is not shown to its end.

Gemini CLI asks for every chunk. That is a process for every few words; here it is asked when a thousand characters have
come, and each time when as many again have: six times at most, and no more once that has taken five seconds in all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import is_thought, text_of
from gemini_companion.sessions.ports import Clock

FIRST_CHARACTERS: Final = 1_000
MOST_TIMES: Final = 6
MOST_SECONDS: Final = 5.0


class Watch:
    """Watches one answer. `ask` is given what has come, and raises if that is refused."""

    def __init__(self, ask: Callable[[Sequence[Part]], Awaitable[None]], clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._parts: list[Part] = []
        self._characters = 0
        self._next = FIRST_CHARACTERS
        self._left = MOST_TIMES
        self._seconds = 0.0

    async def take(self, parts: Sequence[Part]) -> None:
        """Take in the next parts, ahead of their being shown."""
        self._parts += parts
        self._characters += sum(len(text_of(part) or "") for part in parts if not is_thought(part))
        if self._characters < self._next or not self._left or self._seconds >= MOST_SECONDS:
            return
        self._left -= 1
        self._next = 2 * self._characters
        started = self._clock.monotonic()
        await self._ask(self._parts)
        self._seconds += self._clock.monotonic() - started
