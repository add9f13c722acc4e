"""What a request has: parts cut to the fields that the API knows, system instruction, tools, options.

The API refuses a whole request for one field that it does not know, and our parts keep all fields that they arrived
with, so unknown ones are left out here, for the request only. The result is plain JSON in the API's own spelling.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import SKIP_SIGNATURE
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
# The API's rule for a function's name, by which it also judges the names of calls in a history, whoever made them up.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", re.ASCII)
_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_.:-]", re.ASCII)
_DIGEST: Final = 10
_FROM_URL_SAFE: Final = str.maketrans("-_", "+/")
_DAMAGED: Final = "[A picture or another medium stood here. It is empty or damaged, and was left out.]"
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
        elif name == "inlineData" and isinstance(value, dict) and not _is_whole(cast("Json", value)):
            data.append({"text": _DAMAGED})
        elif name in DATA_FIELDS and isinstance(value, dict):
            data.append({name: _wire_data(name, cast("Json", value))})
    if isinstance(text, str) and (text or (not data and "thoughtSignature" in plain)):
        data.insert(0, {"text": text})
    elif not data and "thoughtSignature" in plain:
        data.append({"text": ""})
    if data:
        data[0].update(plain)
        call = part.get("functionCall")
        called = cast("Json", call).get("name") if isinstance(call, dict) else None
        if "thoughtSignature" in plain and data[0].get("functionCall", {}).get("name", called) != called:
            data[0]["thoughtSignature"] = SKIP_SIGNATURE  # the model's own was made for the other name
    return data


def wire_name(name: object) -> str:
    """The name of a call or of its result as the API takes it; the same name always gives the same one."""
    text = name if isinstance(name, str) else ""
    if _NAME.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"_{_NOT_IN_NAME.sub('_', text[:40])}.{digest}"


def _is_whole(media: Json) -> bool:
    """Whether the API can take a medium: it has a type, and bytes in base64. For one that has not it refuses it all."""
    data, kind = media.get("data"), media.get("mimeType")
    if not isinstance(data, str) or not data or not isinstance(kind, str) or not kind:
        return False
    try:
        return bool(binascii.a2b_base64(data.translate(_FROM_URL_SAFE)))
    except (binascii.Error, ValueError):
        return False


def _wire_data(name: str, value: Json) -> Json:
    """The object of a data field, with known fields only, and with objects where the API requires objects."""
    wire = {key: field for key, field in value.items() if key in DATA_FIELDS[name] and field is not None}
    if name in ("functionCall", "functionResponse") and "name" in wire:
        wire["name"] = wire_name(wire["name"])
    match name:
        case "functionCall" if not isinstance(wire.get("args", {}), dict):
            wire["args"] = {}
        case "functionResponse":
            if not isinstance(wire.get("response", {}), dict):
                wire["response"] = {"output": wire["response"]}
            if "parts" in wire:
                given = wire["parts"]
                wire["parts"] = _response_parts(given)
                if any(map(_is_damaged, cast("list[object]", given) if isinstance(given, list) else ())):
                    wire["response"] = {**wire.get("response", {}), "leftOut": _DAMAGED}
        case _:
            pass
    return wire


def _is_damaged(part: object) -> bool:
    media = cast("Json", part).get("inlineData") if isinstance(part, dict) else None
    return isinstance(media, dict) and not _is_whole(cast("Json", media))


def _response_parts(value: object) -> list[Json]:
    parts: list[Json] = []
    for part in cast("list[object]", value) if isinstance(value, list) else []:
        if not isinstance(part, dict):
            continue
        for name, fields in (("inlineData", _BLOB), ("fileData", _FILE)):
            media = cast("Json", part).get(name)
            if isinstance(media, dict) and (name == "fileData" or _is_whole(cast("Json", media))):
                parts.append({name: {key: field for key, field in cast("Json", media).items() if key in fields}})
    return parts
