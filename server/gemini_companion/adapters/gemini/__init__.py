"""The Gemini API as a `ModelClient`, on the google-genai SDK, which is imported only when it is needed."""

from gemini_companion.adapters.gemini.client import GeminiModelClient
from gemini_companion.adapters.gemini.options import GeminiOptions, from_environment

__all__ = ["GeminiModelClient", "GeminiOptions", "from_environment"]
