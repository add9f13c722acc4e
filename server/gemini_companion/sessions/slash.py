"""Prompts that are commands."""

from __future__ import annotations

import re
from typing import Final

from gemini_companion.engine.history.content import Part

_COMPRESS: Final = re.compile(r"\s*/(?:compress|summarize|compact)(?:\s+(?P<guidance>.*?))?\s*", re.DOTALL | re.IGNORECASE)


def slash_compression(prompt: tuple[Part, ...]) -> str | None:
    """The guidance (perhaps empty) of a prompt that is just `/compress`, `/summarize` or `/compact`; `None` for any other prompt."""
    if len(prompt) != 1 or set(prompt[0]) != {"text"} or not isinstance(prompt[0]["text"], str):
        return None
    match = _COMPRESS.fullmatch(prompt[0]["text"])
    return (match["guidance"] or "") if match else None
