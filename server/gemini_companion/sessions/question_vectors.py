"""Vectors of questions: few are asked for, however fast somebody types, and the last one always is."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

from gemini_companion.sessions.models.port import Embedder
from gemini_companion.sessions.ports import Clock
from gemini_companion.sessions.recall_store import Vector

LEAST_GAP_SECONDS: Final = 1.0
"""Between two requests."""
MOST_KNOWN: Final = 128
"""Questions whose vectors are kept: words that are deleted and typed again cost nothing."""


class _Waiting:
    """A question whose turn has not come."""

    def __init__(self, text: str) -> None:
        self.text = text


class QuestionVectors:
    """The vectors of the newest questions, and the turnstile to those that are not known."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        """By model and text, the one that was asked last at the end."""
        self._turnstile = asyncio.Lock()
        self._waiting: list[_Waiting] = []
        """Oldest first."""
        self._asked_at = float("-inf")
        """Seconds on the monotonic clock."""

    async def find(self, embedder: Embedder, question: str, clock: Clock) -> Vector | None:
        """A question's vector; `None` if somebody typed on meanwhile: nobody waits for its answer any more.

        One request a second at most. Raises `ModelFault`s.
        """
        key = (embedder.embedding_model, question)
        if (known := self._find_known(key)) is not None:
            return known
        waiting = _Waiting(question)
        self._waiting.append(waiting)
        try:
            async with self._turnstile:
                if (known := self._find_known(key)) is not None:
                    return known
                if (gap := self._asked_at + LEAST_GAP_SECONDS - clock.monotonic()) > 0:
                    await clock.sleep(gap)
                if self._is_typed_on(waiting):
                    return None
                self._asked_at = clock.monotonic()
                (vector,) = await embedder.embed([question], purpose="question")
        finally:
            self._waiting.remove(waiting)
        self._known[key] = vector
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return vector

    def _find_known(self, key: tuple[str, str]) -> Vector | None:
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def _is_typed_on(self, waiting: _Waiting) -> bool:
        """Whether a later question goes on with this one, or takes some of it back. Another question does neither."""
        later = (other.text for other in self._waiting[self._waiting.index(waiting) + 1 :])
        mine = waiting.text
        return any(text != mine and (text.startswith(mine) or mine.startswith(text)) for text in later)
