"""From the SDK's response objects to `ModelChunk`s of plain JSON.

A model's function arguments may contain what our log cannot (lone surrogates, numbers that no other reader takes,
unbounded nesting), so strings and numbers are made plain here, and too deep a nesting is refused.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.models.port import ModelChunk

if TYPE_CHECKING:
    import enum

    from google.genai import types

Json: TypeAlias = dict[str, Any]

MAX_DEPTH: Final = 100
"""Levels of JSON that a part may nest; the API itself stops at about as many."""
_INTEGER_BITS: Final = 4_096
"""Of the longest integer that is kept as one: longer ones than of 4,300 digits are refused by what reads and writes."""
_LARGEST_COUNT: Final = 2**53 - 1
"""The largest integer that every reader of JSON takes exactly."""
_OF_CODE: Final = re.compile(r"^default_api[.:](?=.)")
"""Models that write a call as code put this before the tool's name now and then."""
_TO_STANDARD_BASE64: Final = str.maketrans("-_", "+/")


def chunk_of(response: types.GenerateContentResponse) -> ModelChunk:
    """The first candidate of a response, or of a piece of one; a refused prompt is a chunk with `block_reason`."""
    candidate = response.candidates[0] if response.candidates else None
    content = candidate.content if candidate else None
    return ModelChunk(
        parts=tuple(wire for part in (content.parts if content else None) or () if (wire := part_of(part))),
        finish_reason=_word(candidate.finish_reason) if candidate else None,
        block_reason=_word(response.prompt_feedback.block_reason) if response.prompt_feedback else None,
        usage=_usage_of(response.usage_metadata),
        model_version=well_formed(response.model_version) if response.model_version else None,
    )


def grounding_of(response: types.GenerateContentResponse) -> tuple[object, object]:
    """`groundingMetadata` and `urlContextMetadata` of the first candidate, as JSON; `None` for what is not there."""
    candidate = response.candidates[0] if response.candidates else None
    found = (candidate.grounding_metadata, candidate.url_context_metadata) if candidate else (None, None)
    search, pages = (
        plain_json(one.model_dump(mode="json", by_alias=True, exclude_none=True)) if one else None for one in found
    )
    return search, pages


def part_of(part: types.Part) -> Part:
    """A part as the JSON object that the API sent, as far as the SDK knows its fields.

    Raises `ModelUnavailable` if it is nested too deep.
    """
    try:
        dumped = part.model_dump(mode="json", by_alias=True, exclude_none=True)
    except ValueError:  # pydantic gives up at 255 levels
        raise _too_deep() from None
    wire = cast("Json", plain_json(dumped))
    called: Any = wire.get("functionCall")
    if isinstance(called, dict) and isinstance(name := cast("Json", called).get("name"), str):
        cast("Json", called)["name"] = without_code(name)
    if isinstance(signature := wire.get("thoughtSignature"), str):
        wire["thoughtSignature"] = signature.translate(_TO_STANDARD_BASE64)  # the SDK writes the URL-safe alphabet
    if isinstance(blob := wire.get("inlineData"), dict) and isinstance(data := cast("Json", blob).get("data"), str):
        cast("Json", blob)["data"] = data.translate(_TO_STANDARD_BASE64)
    return wire


def without_code(name: str) -> str:
    """A called tool's name without what stands ahead of it where a model writes the call as code."""
    return _OF_CODE.sub("", name)


def plain_json(value: object, depth: int = 0) -> object:
    """`value` in JSON that every reader takes.

    Halves of surrogate pairs are written out, absurdly long integers become texts, numbers that are not finite `None`.
    Raises `ModelUnavailable` past `MAX_DEPTH` levels.
    """
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict | list):
        if depth >= MAX_DEPTH:
            raise _too_deep()
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            return {well_formed(key): plain_json(item, depth + 1) for key, item in fields.items()}
        return [plain_json(item, depth + 1) for item in cast("list[object]", value)]
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
        return hex(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _too_deep() -> ModelUnavailable:
    return ModelUnavailable(
        "The model's answer nests deeper than any tool's arguments do.", hint="Nothing was lost; try again."
    )


def _word(value: enum.Enum | None) -> str | None:
    """An enumeration's value as the API wrote it, also one that this SDK does not know; `None` for "unspecified"."""
    word = well_formed(str(value.value)) if value is not None else ""
    return None if not word or word == "FINISH_REASON_UNSPECIFIED" else word


def _usage_of(usage: types.GenerateContentResponseUsageMetadata | None) -> Usage | None:
    if usage is None:
        return None
    return Usage(
        prompt_tokens=_count(usage.prompt_token_count),
        cached_tokens=_count(usage.cached_content_token_count),
        thought_tokens=_count(usage.thoughts_token_count),
        output_tokens=_count(usage.candidates_token_count),
        total_tokens=_count(usage.total_token_count),
    )


def _count(value: int | None) -> int:
    return min(max(value or 0, 0), _LARGEST_COUNT)
