"""A request made in the plainest way, to compare with what is sent; and conversations of some length."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.request import count_fields, generate_fields, wire_parts
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.models.port import ModelRequest

Json: TypeAlias = dict[str, Any]
Method: TypeAlias = Literal["stream", "generate", "count"]

OPTIONS: Final = GeminiOptions(api_key="k")
LONG: Final = "word " * 3_000


def whole(request: ModelRequest, method: Method, *, vertex: bool) -> Json:
    """A request's JSON, made in the plainest way there is."""
    options = msgspec.structs.replace(OPTIONS, vertex=vertex)
    sent: list[Json] = []
    follows = True
    for content in request.contents:
        wire = [piece for part in content.parts for piece in wire_parts(part, vertex)]
        if wire and not follows and sent and sent[-1]["role"] == content.role:
            sent[-1]["parts"] += wire
        elif wire:
            sent.append({"role": content.role, "parts": wire})
        follows = bool(wire)
    fields = (count_fields if method == "count" else generate_fields)(request, options)
    if method != "count":
        fields.setdefault("generationConfig", {})  # the SDK's
    return cast("Json", json.loads(json.dumps({"contents": sent, **fields})))


def alternating(count: int, *, text: str = LONG) -> list[Content]:
    return [(model_text if number % 2 else user_text)(f"{number} {text}") for number in range(count)]
