"""Checking prompts, and prompts that are commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Part

_OF_TOOLS: Final = frozenset({"functionCall", "functionResponse"})
"""Fields of parts that do not belong in a prompt."""

_DATA: Final = ("inlineData", "fileData", "executableCode", "codeExecutionResult", *_OF_TOOLS)
"""Fields of parts that a model reads, beside `text`. Of any other nothing would be sent."""

_COMPRESS: Final = re.compile(r"/(?:compress|summarize|compact)(?:\s++(?P<guidance>.*+))?", re.DOTALL | re.IGNORECASE)

# The letters are those that JavaScript means by `\w`: the panel reads it with the same expression.
_ESCAPED: Final = re.compile(r"\s*+//[A-Za-z][A-Za-z0-9_-]*+(?!\S)")


def slash_compression(prompt: tuple[Part, ...]) -> str | None:
    """The guidance of a prompt that is just `/compress`, `/summarize` or `/compact`; `None` for any other prompt.

    It is `""` for the bare command.
    """
    if len(prompt) != 1 or set(prompt[0]) != {"text"} or not isinstance(prompt[0]["text"], str):
        return None
    match = _COMPRESS.fullmatch(prompt[0]["text"].strip())
    return (match["guidance"] or "") if match else None


def unescaped(prompt: tuple[Part, ...]) -> tuple[Part, ...]:
    """The prompt with one slash of the two that it may begin with: `//compress` is text, and never a command."""
    text = prompt[0].get("text") if prompt else None
    return without_slash(prompt) if isinstance(text, str) and _ESCAPED.match(text) else prompt


def without_slash(prompt: tuple[Part, ...]) -> tuple[Part, ...]:
    """The prompt without its first slash."""
    first = prompt[0]
    return ({**first, "text": str(first.get("text")).replace("/", "", 1)}, *prompt[1:])


def check_prompt(prompt: Sequence[Part]) -> None:
    """Raise `InvalidInput` for a prompt that is empty, or that has function calls or responses."""
    if not any(map(_has_content, prompt)):
        raise InvalidInput("The prompt is empty.", path="$.prompt", hint="Write something, or attach a file.")
    for index, part in enumerate(prompt):
        if not _OF_TOOLS.isdisjoint(part):
            path = f"$.prompt[{index}]"
            raise InvalidInput(
                f"{path}: calls and their results come from the model and its tools, not from a prompt.", path=path
            )


def _has_content(part: Part) -> bool:
    text = part.get("text")
    return bool(text.strip() if isinstance(text, str) else text) or any(part.get(field) for field in _DATA)
