"""The built-in model's one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.tokens.limits import DEFAULT_TOKEN_LIMIT, OFFLINE, OFFLINE_MODEL, KnownModel


class OfflineCatalogue:
    """See `sessions.models.port.ModelCatalogue`. The limit is Gemini's, so that a chat behaves without a key as with
    one.
    """

    @property
    def models(self) -> Sequence[KnownModel]:
        """The one model."""
        return (OFFLINE,)

    def serves(self, name: str) -> bool:
        """Its own name only."""
        return name == OFFLINE_MODEL

    def resolve(self, name: str) -> str:
        """It has no short names."""
        return OFFLINE_MODEL

    def token_limit(self, name: str) -> int:
        """As much as Gemini takes."""
        return DEFAULT_TOKEN_LIMIT

    def compressor_for(self, name: str) -> str:
        """It writes its own snapshots."""
        return OFFLINE_MODEL

    def next_model(self, name: str) -> str | None:
        """None: there is no other."""
        return None

    def routes(self, name: str) -> tuple[str, str] | None:
        """None: a name means one model."""
        return None

    def title_model(self, name: str) -> str:
        """And its own titles."""
        return OFFLINE_MODEL


OFFLINE_CATALOGUE: Final = OfflineCatalogue()
