"""The built-in model among the model adapters: it answers always, and for the others where they cannot."""

from __future__ import annotations

from collections.abc import Mapping

from gemini_companion.adapters.offline.catalogue import OFFLINE_CATALOGUE
from gemini_companion.adapters.offline.provider import OfflineProvider
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.sessions.models.registry import Registration


def register(env: Mapping[str, str]) -> Registration:
    """It needs nothing of the environment."""
    return Registration(
        catalogue=OFFLINE_CATALOGUE, provider=OfflineProvider(count_text=LexicalTokenCounter().count_text)
    )
