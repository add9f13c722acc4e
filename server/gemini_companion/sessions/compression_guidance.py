"""What the people who wait for one compression want kept."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

LONGEST: Final = 100_000
"""Characters of all guidance together; no single request may have more."""


class Guidance:
    """Guidance of the request that began a compression, and of those that joined it before it was read."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._joined: list[str] = []

    @property
    def text(self) -> str:
        """Each thing once, in the order in which it was asked for, as many as fit; `""` for none."""
        kept: list[str] = []
        room = LONGEST
        for one in dict.fromkeys((self._own, *self._joined)):
            if one and len(one) < room:
                kept.append(one)
                room -= len(one) + 1
        return "\n".join(kept) or self._own

    @contextmanager
    def joined_by(self, guidance: str) -> Generator[None]:
        """Heed it, too, as long as whoever gave it waits."""
        self._joined.append(guidance)
        try:
            yield
        finally:
            self._joined.remove(guidance)
