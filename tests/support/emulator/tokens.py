"""The emulator's token counts: not Gemini's, but the same for the same request, and near enough to be plausible."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

IMAGE_TOKENS = 258
DEFAULT_LIMIT = 1_048_576
LIMITS = {"gemini-1.5-pro": 2_097_152, "gemma-4-31b-it": 256_000, "gemma-4-26b-a4b-it": 256_000}


def count_request(body: Json) -> int:
    """Tokens of a request: a quarter of its characters, rounded down, plus a constant for each image."""
    contents = [*body.get("contents", []), *([body["systemInstruction"]] if "systemInstruction" in body else [])]
    parts = [part for content in contents for part in content.get("parts", [])]
    tools = json.dumps(body["tools"], ensure_ascii=False) if body.get("tools") else ""
    return count_parts(parts) + len(tools) // 4


def count_parts(parts: Iterable[Json]) -> int:
    """Tokens of parts."""
    return sum(map(characters_of, parts)) // 4


def characters_of(part: Json) -> int:
    """Characters of a part: of its text, else of its JSON; an image counts as four a token."""
    if "inlineData" in part or "fileData" in part:
        return 4 * IMAGE_TOKENS
    if isinstance(part.get("text"), str):
        return len(part["text"])
    return len(json.dumps({key: value for key, value in part.items() if key != "thoughtSignature"}, ensure_ascii=False))


def input_limit(model: str) -> int:
    """Tokens that a model takes."""
    return LIMITS.get(model, DEFAULT_LIMIT)
