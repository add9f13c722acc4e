"""What a run measures: something that takes in a conversation and compresses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from gemini_companion.engine.history.content import Content

INSTALLED: Final = ("COMPRESSED", "CONTENT_TRUNCATED")
"""Statuses of a compression after which the history is another one."""


class Request(NamedTuple):
    """What a model would get next."""

    system: str
    contents: tuple[Content, ...]
    in_force: tuple[str, ...] = ()
    """What is shown to the person as rules in force."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one compression came to."""

    status: str
    """A `CompressionStatus`, or the name of the fault that ended it."""
    retention: float | None = None
    """By the product's own measure, where it has one."""
    appended: int = 0
    """Facts that the gate put back."""
    unsupported: int = 0
    """Facts of the snapshot that the gate found nowhere in what it hides."""
    virtual_ms: int = 0
    """Time by the run's clock: what a model that writes slowly takes."""

    @property
    def is_installed(self) -> bool:
        """The history is another one now."""
        return self.status in INSTALLED


class Subject(Protocol):
    """See above. Contents are said in order; what was said is never said again."""

    async def say(self, contents: Sequence[Content]) -> None:
        """Go on with the conversation; it begins with words of the user and ends with the model's."""
        ...

    async def request(self) -> Request:
        """Ask something, and see what the model gets for it."""
        ...

    async def compress(self) -> Outcome:
        """Compress, as if a person had asked for it."""
        ...

    async def undo_all(self) -> bool | None:
        """Undo every compression. Whether all that was said stands there again; `None` if none can be undone."""
        ...

    async def close(self) -> None:
        """End."""
        ...
