"""What a request has: parts cut to the fields that the API knows, system instruction, tools, options.

The API refuses a whole request for one field that it does not know, and our parts keep all fields that they arrived
with, so unknown ones are left out here, for the request only. The result is plain JSON in the API's own spelling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import Part
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


def generate_fields(request: ModelRequest, options: GeminiOptions) -> Json:
    """The fields of `generateContent` and `streamGenerateContent` beside the contents."""
    fields = _instructions(request)
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
        fields["toolConfig"] = {"functionCallingConfig": calling}
    if request.answers_json:
        generation["responseMimeType"] = "application/json"
    if options.include_thoughts and request.role == "main" and _THINKING_MODELS.match(request.model):
        generation["thinkingConfig"] = {"includeThoughts": True}
    return {**fields, "generationConfig": generation} if generation else fields


def count_fields(request: ModelRequest, options: GeminiOptions) -> Json:
    """The fields of `countTokens` beside the contents: system instruction and tools, for Vertex AI alone."""
    return _instructions(request) if options.vertex else {}


def _instructions(request: ModelRequest) -> Json:
    extra: Json = {}
    if request.system_instruction:
        extra["systemInstruction"] = {"parts": [{"text": request.system_instruction}]}
    if request.tools:
        extra["tools"] = [{"functionDeclarations": list(request.tools)}]
    return extra


def wire_parts(part: Part, vertex: bool) -> list[Json]:
    """One part as the API accepts it: none if it is empty, several if it has several kinds of data.

    A content of whose parts nothing is left is not sent.
    """
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
