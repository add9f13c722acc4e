"""The body of a request: contents cut to the fields that the API knows, system instruction, tools.

The API refuses a whole request for one field that it does not know, and our parts keep all fields that they arrived
with, so unknown ones are left out here, for the request only. The result is plain JSON in the API's own spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import Content, Part, merge_neighbours
from gemini_companion.engine.tokens.limits import is_model_name
from gemini_companion.sessions.models.port import ModelRequest

Json: TypeAlias = dict[str, Any]

_BLOB: Final = frozenset({"mimeType", "data"})
_FILE: Final = frozenset({"mimeType", "fileUri"})

# Field names: REST reference of `Part` (v1), compared with the SDK's own types by a test. The first data field that a
# part has decides what it is; the API takes one for each part.
DATA_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "inlineData": _BLOB,
    "fileData": _FILE,
    "functionCall": frozenset({"id", "name", "args"}),
    "functionResponse": frozenset({"id", "name", "response", "willContinue", "scheduling", "parts"}),
    "executableCode": frozenset({"id", "language", "code"}),
    "codeExecutionResult": frozenset({"id", "outcome", "output"}),
    "toolCall": frozenset({"id", "toolType", "args"}),
    "toolResponse": frozenset({"id", "toolType", "response"}),
}
PLAIN_FIELDS: Final = frozenset({"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"})
_DEVELOPER_API_ONLY: Final = frozenset({"toolCall", "toolResponse", "partMetadata"})
# Models that think by default and can send summaries of it; others refuse a request that asks for them.
_THINKING_MODELS: Final = re.compile(r"(?:models/)?gemini-(?:2\.5|[3-9])(?!.*(?:lite|image|tts|embedding|live|audio))")


def check_model_name(model: str) -> None:
    """Raise `ModelUnavailable` for what cannot be a model's name; it becomes part of a URL."""
    if not is_model_name(model):
        raise ModelUnavailable(
            f"{model[:80]!r} is not the name of a model.",
            hint="Set `model.name` or GEMINI_MODEL to a name such as gemini-2.5-pro.",
            retryable=False,
        )


def generate_body(request: ModelRequest, options: GeminiOptions) -> Json:
    """The body of `generateContent` and `streamGenerateContent`."""
    body: Json = {"contents": wire_contents(request.contents, vertex=options.vertex), **_instructions(request)}
    generation: Json = {}
    if request.temperature is not None:
        generation["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        generation["maxOutputTokens"] = request.max_output_tokens
    if request.top_p is not None:
        generation["topP"] = request.top_p
    if request.top_k is not None:
        generation["topK"] = request.top_k
    if request.must_call is not None and request.tools:
        calling = {"mode": "ANY", **({"allowedFunctionNames": list(request.must_call)} if request.must_call else {})}
        body["toolConfig"] = {"functionCallingConfig": calling}
    if request.answers_json:
        generation["responseMimeType"] = "application/json"
    if options.include_thoughts and request.role == "main" and _THINKING_MODELS.match(request.model):
        generation["thinkingConfig"] = {"includeThoughts": True}
    return {**body, "generationConfig": generation} if generation else body


def count_body(request: ModelRequest, options: GeminiOptions) -> Json:
    """The body of `countTokens`; only for Vertex AI with system instruction and tools."""
    body: Json = {"contents": wire_contents(request.contents, vertex=options.vertex)}
    return {**body, **_instructions(request)} if options.vertex else body


def wire_contents(contents: Iterable[Content], *, vertex: bool = False) -> list[Json]:
    """The contents as the API accepts them; parts and contents that become empty are dropped."""
    kept: list[Content] = []
    dropped = False
    for content in contents:
        parts = tuple(wire for part in content.parts for wire in _wire_parts(part, vertex))
        if parts:
            kept.append(Content(role=content.role, parts=parts))
        else:
            dropped = True
    return [{"role": content.role, "parts": content.parts} for content in (merge_neighbours(kept) if dropped else kept)]


def _instructions(request: ModelRequest) -> Json:
    extra: Json = {}
    if request.system_instruction:
        extra["systemInstruction"] = {"parts": [{"text": request.system_instruction}]}
    if request.tools:
        extra["tools"] = [{"functionDeclarations": list(request.tools)}]
    return extra


def _wire_parts(part: Part, vertex: bool) -> list[Json]:
    """One part as the API accepts it: none if it is empty, several if it has several kinds of data."""
    text = part.get("text")
    if len(part) == 1 and isinstance(text, str):
        return [part] if text else []
    data: list[Json] = []
    plain: Json = {}
    for name, value in part.items():
        if value is None or (vertex and name in _DEVELOPER_API_ONLY):
            continue
        if name in PLAIN_FIELDS:
            plain[name] = value
        elif name in DATA_FIELDS and isinstance(value, dict):
            data.append({name: _wire_data(name, cast("Json", value))})
    if isinstance(text, str) and (text or (not data and "thoughtSignature" in plain)):
        data.insert(0, {"text": text})
    elif not data and "thoughtSignature" in plain:
        data.append({"text": ""})
    if data:
        data[0].update(plain)
    return data


def _wire_data(name: str, value: Json) -> Json:
    """The object of a data field, with known fields only, and with objects where the API requires objects."""
    wire = {key: field for key, field in value.items() if key in DATA_FIELDS[name] and field is not None}
    match name:
        case "functionCall" if not isinstance(wire.get("args", {}), dict):
            wire["args"] = {}
        case "functionResponse":
            if not isinstance(wire.get("response", {}), dict):
                wire["response"] = {"output": wire["response"]}
            if "parts" in wire:
                wire["parts"] = _response_parts(wire["parts"])
        case _:
            pass
    return wire


def _response_parts(value: object) -> list[Json]:
    parts: list[Json] = []
    for part in cast("list[object]", value) if isinstance(value, list) else []:
        if not isinstance(part, dict):
            continue
        for name, fields in (("inlineData", _BLOB), ("fileData", _FILE)):
            media = cast("Json", part).get(name)
            if isinstance(media, dict):
                parts.append({name: {key: field for key, field in cast("Json", media).items() if key in fields}})
    return parts
