"""The tools that ask the network."""

from __future__ import annotations

from typing import Any

from gemini_companion.tools.tool import Tool
from gemini_companion.tools.web.google_web_search import GoogleWebSearch
from gemini_companion.tools.web.web_fetch import WebFetch


def web_tools() -> tuple[Tool[Any], ...]:
    """All of them, in the order in which the model is told of them."""
    return (GoogleWebSearch(), WebFetch())
