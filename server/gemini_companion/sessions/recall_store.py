"""What recall needs of a store: passages, their vectors, and the finding of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gemini_companion.engine.recall.query import RecallQuery
from gemini_companion.sessions.recalled import RecallResult


class Vector(msgspec.Struct, frozen=True, kw_only=True):
    """What a model makes of a text's meaning: numbers that can be compared with those of the same model only."""

    model: str
    values: tuple[float, ...]


class PassageText(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that recall may find."""

    row: int
    """Its row in the index."""
    text: str


class RecallStore(Protocol):
    """Finding what was said. Every method raises `StorageFault`; those with a session's id also `SessionNotFound`."""

    async def search(
        self, query: RecallQuery, *, session_id: str | None = None, limit: int = 10, vector: Vector | None = None
    ) -> RecallResult:
        """The turns of this project, or of one session, that answer a question best.

        With `vector`, the question's, those near to it in meaning count too, as far as they have vectors.
        """
        ...

    async def whole(
        self, *, session_id: str | None = None, turn_id: str | None = None, entry_id: str | None = None
    ) -> RecallResult:
        """All that was said in a turn, or one entry, in order; nothing if no view shows it any more."""
        ...

    async def passages_without_vector(self, model: str) -> list[PassageText] | None:
        """Some of the passages that have no vector of a model yet, the newest first; `None` if there are none left."""
        ...

    async def save_vectors(self, vectors: Sequence[tuple[PassageText, Vector]]) -> None:
        """Keep the vectors of passages, as long as these are there."""
        ...

    async def index(self) -> None:
        """Index what is missing, such as the sessions of an earlier version. May take long; others do not wait."""
        ...
