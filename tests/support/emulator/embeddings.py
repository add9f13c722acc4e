"""Vectors as the emulator makes them: of a text's words, of which some mean the same."""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

from tests.support.emulator.errors import ApiError

Json = dict[str, Any]

SYNONYMS: dict[str, str] = {"automobile": "car", "physician": "doctor", "purchase": "buy"}
"""Words that no stemmer brings together."""

_MOST = 100
_REQUEST = frozenset({"model", "content", "taskType", "title", "outputDimensionality"})


def check_embed(body: Json, model: str) -> None:
    """Raises `ApiError` for a body that `batchEmbedContents` refuses."""
    requests = body.get("requests")
    if set(body) != {"requests"} or not isinstance(requests, list) or not requests:
        raise ApiError(400, "* BatchEmbedContentsRequest.requests: requests is not specified")
    if len(requests) > _MOST:
        raise ApiError(400, f"* BatchEmbedContentsRequest.requests: at most {_MOST} requests can be in one batch")
    for index, request in enumerate(requests):
        if unknown := set(request) - _REQUEST:
            raise ApiError(400, f"Invalid JSON payload received. Unknown name {unknown} at 'requests[{index}]'.")
        if request.get("model") != f"models/{model}":
            raise ApiError(400, f"* BatchEmbedContentsRequest.requests[{index}].model: must match the batch's model")
        if not _text_of(request).strip():
            raise ApiError(400, f"* BatchEmbedContentsRequest.requests[{index}].content: content is empty")


def embeddings(body: Json) -> Json:
    """The answer to a request that was checked."""
    return {
        "embeddings": [
            {"values": vector_of(_text_of(request), request.get("outputDimensionality", 3072))}
            for request in body["requests"]
        ]
    }


def vector_of(text: str, dimensions: int) -> list[float]:
    """Of unit length for 3,072 numbers only, as the real one."""
    values = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(str(SYNONYMS.get(word, word)).encode()).digest()
        values[int.from_bytes(digest[:4], "big") % dimensions] += 1.0
    length = math.hypot(*values) or 1.0
    return [value / length for value in values] if dimensions == 3072 else values


def _text_of(request: Json) -> str:
    return "".join(part.get("text", "") for part in request.get("content", {}).get("parts", []))
