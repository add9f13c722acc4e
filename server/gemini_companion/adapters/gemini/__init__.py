"""The Gemini API as a `ModelProvider`, on the google-genai SDK, which is imported only when it is needed."""

from gemini_companion.adapters.gemini.options import GeminiOptions, from_environment
from gemini_companion.adapters.gemini.provider import GeminiProvider

__all__ = ["GeminiOptions", "GeminiProvider", "from_environment"]
