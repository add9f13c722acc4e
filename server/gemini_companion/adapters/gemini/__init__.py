"""The Gemini API as a `ModelProvider`, on the google-genai SDK, which is imported only when it is needed.

So is the provider: a daemon without a key has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gemini_companion.adapters.gemini.options import GeminiOptions, from_environment

if TYPE_CHECKING:
    from gemini_companion.adapters.gemini.provider import GeminiProvider as GeminiProvider

__all__ = ["GeminiOptions", "GeminiProvider", "from_environment"]


def __getattr__(name: str) -> Any:
    if name != "GeminiProvider":
        raise AttributeError(name)
    from gemini_companion.adapters.gemini.provider import GeminiProvider

    return GeminiProvider
