"""Gemini's model names as a catalogue: what `engine.tokens.limits` knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.tokens.limits import (
    KNOWN_MODELS,
    OFFLINE_MODEL,
    KnownModel,
    compressor_for,
    next_model,
    resolve_model,
    routes_of,
    title_model,
    token_limit,
)


class GeminiCatalogue:
    """See `sessions.models.port.ModelCatalogue`."""

    @property
    def models(self) -> Sequence[KnownModel]:
        """The default first, then newest first."""
        return KNOWN_MODELS

    def serves(self, name: str) -> bool:
        """True for every name but the built-in model's: the service has models that are not in the table."""
        return name != OFFLINE_MODEL

    def resolve(self, name: str) -> str:
        """The full name of a short name of Gemini CLI's."""
        return resolve_model(name)

    def token_limit(self, name: str) -> int:
        """From the table."""
        return token_limit(name)

    def compressor_for(self, name: str) -> str:
        """From the table: one of the same family."""
        return compressor_for(name)

    def next_model(self, name: str) -> str | None:
        """From the table: a smaller one of the same generation."""
        return next_model(name)

    def routes(self, name: str) -> tuple[str, str] | None:
        """For `auto` and its like."""
        return routes_of(name)

    def title_model(self, name: str) -> str:
        """A flash-lite model."""
        return title_model()


GEMINI_CATALOGUE: Final = GeminiCatalogue()
