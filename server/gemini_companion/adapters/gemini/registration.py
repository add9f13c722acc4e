"""Gemini as a model adapter: it answers if the environment has credentials."""

from __future__ import annotations

from collections.abc import Mapping

from gemini_companion.adapters.gemini.catalogue import GEMINI_CATALOGUE
from gemini_companion.adapters.gemini.options import from_environment
from gemini_companion.sessions.models.registry import Registration


def register(env: Mapping[str, str]) -> Registration:
    """The adapter's registration, without a provider if there are no credentials. The SDK is not loaded."""
    options = from_environment(env)
    if options is None:
        return Registration(
            catalogue=GEMINI_CATALOGUE,
            provider=None,
            missing="no API key was found",
            remedy="Set GEMINI_API_KEY (or GOOGLE_API_KEY) in ~/.gemini/.env, or in the daemon's environment and start"
            " it again, to talk to Gemini.",
        )
    from gemini_companion.adapters.gemini.provider import GeminiProvider

    return Registration(catalogue=GEMINI_CATALOGUE, provider=GeminiProvider(options))
