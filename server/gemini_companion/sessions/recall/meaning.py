"""Recall by meaning, for those who turned it on: a model's vectors of what was said and of what is searched for.

Words alone answer where it is off, where no provider makes vectors, and where one fails.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.recall.query import MAX_QUERY
from gemini_companion.sessions.models.port import Embedder, EmbeddingPurpose
from gemini_companion.sessions.recall_store import PassageText, Vector
from gemini_companion.sessions.services import Services

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS: Final = 5.0
"""How long a search waits for its question's vector."""
_BATCH: Final = 100
"""Texts in one request."""
_EVERY_SECONDS: Final = 60.0
_AFTER_FAULT_SECONDS: Final = 1_800.0


async def question_vector(services: Services, question: str) -> Vector | None:
    """A question's vector; `None` if there is none to be had, or none needed any more. Faults go to the log."""
    embedder = _embedder(services)
    if embedder is None:
        return None
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await services.questions.find(embedder, question[:MAX_QUERY], services.clock)
    except TimeoutError:
        logger.warning("Recall by meaning was left out: the embedding model took too long.")
    except CompanionError as fault:
        logger.warning("Recall by meaning was left out: %s", fault.message)
    return None


async def keep_embedded(services: Services) -> None:
    """Make vectors of what was said and of what will be, until cancelled; only while it is turned on."""
    while True:
        is_well = await embed_missing(services)
        await services.clock.sleep(_EVERY_SECONDS if is_well else _AFTER_FAULT_SECONDS)


async def embed_missing(services: Services) -> bool:
    """Make the vectors that are missing now, if that is turned on. Faults go to the log; False after one."""
    try:
        while (embedder := _embedder(services)) is not None:
            passages = await services.store.recall.passages_without_vector(embedder.embedding_model)
            if passages is None:
                break
            for start in range(0, len(passages), _BATCH):
                await _embed(services, embedder, passages[start : start + _BATCH])
    except CompanionError as fault:
        logger.warning("What was said could not be made searchable by meaning: %s", fault.message)
        return False
    return True


async def _embed(services: Services, embedder: Embedder, passages: Sequence[PassageText]) -> None:
    vectors = await embedder.embed([passage.text for passage in passages], purpose="document")
    await services.store.recall.save_vectors(list(zip(passages, vectors, strict=True)))


class _InSlot:
    """An `Embedder` each of whose requests waits for its slot; those of what was said let others go first."""

    def __init__(self, services: Services, embedder: Embedder) -> None:
        self._services = services
        self._embedder = embedder

    async def embed(self, texts: Sequence[str], *, purpose: EmbeddingPurpose) -> list[Vector]:
        """As the provider."""
        async with self._services.slots.of_recall(self._services.settings(), is_awaited=purpose == "question"):
            return await self._embedder.embed(texts, purpose=purpose)

    @property
    def embedding_model(self) -> str:
        """The provider's."""
        return self._embedder.embedding_model


def _embedder(services: Services) -> Embedder | None:
    found = services.models.embedder() if services.settings().recall_embeddings else None
    return _InSlot(services, found) if found is not None else None
