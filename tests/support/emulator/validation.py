"""What the real API refuses with 400, refused here too, so that no malformed request goes unnoticed in a test.

Stricter than the API in one thing: neighbouring contents of one role, which it tolerates and we never send. Field names
are accepted in camelCase only.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tests.support.emulator.errors import ApiError

Json = dict[str, Any]

_BLOB = frozenset({"mimeType", "data"})
_FILE = frozenset({"mimeType", "fileUri"})
_DATA: Mapping[str, frozenset[str]] = {
    "inlineData": _BLOB,
    "fileData": _FILE,
    "functionCall": frozenset({"id", "name", "args"}),
    "functionResponse": frozenset({"id", "name", "response", "willContinue", "scheduling", "parts"}),
    "executableCode": frozenset({"id", "language", "code"}),
    "codeExecutionResult": frozenset({"id", "outcome", "output"}),
}
_PART = frozenset({"text", "thought", "thoughtSignature", "videoMetadata", "mediaResolution", *_DATA})
_GENERATE = frozenset(
    {
        "model",
        "contents",
        "systemInstruction",
        "tools",
        "toolConfig",
        "safetySettings",
        "generationConfig",
        "cachedContent",
        "labels",
    }
)
_COUNT = frozenset({"model", "contents", "generateContentRequest"})
_COUNT_VERTEX = frozenset({"model", "contents", "systemInstruction", "tools", "generationConfig", "instances"})
_GENERATION = frozenset(
    {
        "temperature",
        "topP",
        "topK",
        "candidateCount",
        "maxOutputTokens",
        "stopSequences",
        "seed",
        "responseMimeType",
        "responseSchema",
    }
    | {"responseJsonSchema", "thinkingConfig", "presencePenalty", "frequencyPenalty", "mediaResolution"}
)
_DECLARATION = frozenset(
    {"name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior"}
)
_TOOLS = frozenset({"functionDeclarations", "googleSearch", "urlContext"})
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
_MAX_DEPTH = 100


def check_generate(body: Json, *, signed_calls: bool, orderly: bool = True) -> None:
    """Raises `ApiError` for a body that `generateContent` refuses. `signed_calls`: this turn's calls need thought
    signatures. `orderly`: roles alternate, and what follows calls is one response for each.
    """
    _known(body, _GENERATE, "")
    _depth(body)
    contents = _contents(body)
    _known(_object(body.get("generationConfig", {}), "generation_config"), _GENERATION, "generation_config")
    if "systemInstruction" in body:
        _parts(_object(body["systemInstruction"], "system_instruction"), "system_instruction", {"role", "parts"})
    tools = [_object(tool, f"tools[{index}]") for index, tool in enumerate(_list(body.get("tools", []), "tools"))]
    for index, tool in enumerate(tools):
        _tool(tool, f"tools[{index}]")
    if len({name == "functionDeclarations" for tool in tools for name in tool}) == 2:
        raise ApiError(400, "Tool use with function calling is unsupported by the model.")
    if orderly:
        _turns(contents)
    if signed_calls:
        _signatures(contents)


def check_count(body: Json, *, vertex: bool) -> None:
    """Raises `ApiError` for a body that `countTokens` refuses; only Vertex AI takes system instruction and tools
    here.
    """
    _known(body, _COUNT_VERTEX if vertex else _COUNT, "")
    _depth(body)
    _contents(body)


def _contents(body: Json) -> list[Json]:
    contents = [
        _object(content, f"contents[{index}]")
        for index, content in enumerate(_list(body.get("contents", []), "contents"))
    ]
    if not contents:
        raise ApiError(400, "* GenerateContentRequest.contents: contents is not specified")
    for index, content in enumerate(contents):
        _parts(content, f"contents[{index}]", {"role", "parts"})
        if content.get("role") not in ("user", "model"):
            raise ApiError(400, "Please use a valid role: user, model.")
    return contents


def _parts(content: Json, where: str, fields: Iterable[str]) -> None:
    _known(content, frozenset(fields), where)
    parts = _list(content.get("parts", []), f"{where}.parts")
    if not parts:
        raise ApiError(400, f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.")
    for index, part in enumerate(parts):
        _part(_object(part, f"{where}.parts[{index}]"), f"{where}.parts[{index}]")


def _part(part: Json, where: str) -> None:
    _known(part, _PART, where)
    data = [name for name in ("text", *_DATA) if name in part]
    if not data:
        raise ApiError(
            400, f"* GenerateContentRequest.{where}.data: required oneof field 'data' must have one initialized field"
        )
    if len(data) > 1:
        raise ApiError(
            400, f"Invalid value at '{where}' (oneof), oneof field 'data' is already set. Cannot set '{data[1]}'"
        )
    if "text" in part:
        if not isinstance(part["text"], str):
            raise ApiError(400, f"Invalid value at '{where}.text' (TYPE_STRING)")
        if not part["text"] and "thoughtSignature" not in part:
            raise ApiError(400, f"* GenerateContentRequest.{where}: the part's text must not be empty")
    for name, fields in _DATA.items():
        if name in part:
            _known(_object(part[name], f"{where}.{name}"), fields, f"{where}.{name}")
    for name, inner in (("functionCall", "args"), ("functionResponse", "response")):
        if name in part:
            if not _FUNCTION_NAME.fullmatch(str(part[name].get("name", ""))):
                raise ApiError(
                    400,
                    f"* GenerateContentRequest.{where}.{name}.name: [FIELD_INVALID] Name must be given and"
                    " well-formed.",
                )
            _object(part[name].get(inner, {}), f"{where}.{name}.{inner}")
    _base64(part.get("thoughtSignature", ""), f"{where}.thought_signature")
    if "inlineData" in part:
        _base64(part["inlineData"].get("data", ""), f"{where}.inline_data.data")


def _tool(tool: Json, where: str) -> None:
    _known(tool, _TOOLS, where)
    for name in _TOOLS & tool.keys() - {"functionDeclarations"}:
        _known(_object(tool[name], f"{where}.{name}"), frozenset(), f"{where}.{name}")
    for index, declaration in enumerate(_list(tool.get("functionDeclarations", []), f"{where}.function_declarations")):
        place = f"{where}.function_declarations[{index}]"
        _known(_object(declaration, place), _DECLARATION, place)
        if not _FUNCTION_NAME.fullmatch(str(declaration.get("name", ""))):
            raise ApiError(400, f"* GenerateContentRequest.{place}.name: [FIELD_INVALID] Invalid function name.")


def _turns(contents: list[Json]) -> None:
    if contents[0]["role"] != "user":
        raise ApiError(400, "Please ensure that the conversation starts with a user turn.")
    if contents[-1]["role"] != "user":
        raise ApiError(400, "Please ensure that multiturn requests end with a user turn or a function response turn.")
    calls: list[Json] = []
    for before, content in zip([{}, *contents], contents, strict=False):
        if before.get("role") == content["role"]:
            raise ApiError(400, "Please ensure that multiturn requests alternate between user and model.")
        answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        if len(answers) != len(calls) or Counter(answer["name"] for answer in answers) != Counter(
            call["name"] for call in calls
        ):
            raise ApiError(
                400,
                (
                    "Please ensure that the number of function response parts is equal to the number of function call"
                    " parts of the function call turn."
                    if calls
                    else "Please ensure that function response turn comes immediately after a function call turn."
                ),
            )
        if {call["id"] for call in calls if "id" in call} != {answer["id"] for answer in answers if "id" in answer}:
            raise ApiError(400, "Please ensure that the ids of function responses are those of the function calls.")
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        if calls and content["role"] == "user":
            raise ApiError(400, "Please ensure that function calls come from the model.")


def _signatures(contents: list[Json]) -> None:
    """In the turn under way, the first call of each of the model's steps must carry its thought signature."""
    prompts = [
        index
        for index, content in enumerate(contents)
        if content["role"] == "user" and not any("functionResponse" in p for p in content["parts"])
    ]
    for index, content in enumerate(contents[prompts[-1] if prompts else 0 :], prompts[-1] if prompts else 0):
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and not calls[0].get("thoughtSignature"):
            raise ApiError(400, f"Function call is missing a thought_signature in functionCall parts. Content {index}.")


def _known(value: Json, fields: frozenset[str], where: str) -> None:
    for name in value.keys() - fields:
        at = f" at '{where}'" if where else ""
        raise ApiError(400, f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.')


def _object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise ApiError(400, f"Invalid value at '{where}': an object is expected.")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ApiError(400, f"Invalid value at '{where}': a list is expected.")
    return value


def _base64(value: Any, where: str) -> None:
    try:
        base64.b64decode(
            str(value).translate(str.maketrans("-_", "+/")).rstrip("=") + "=" * (-len(str(value).rstrip("=")) % 4),
            validate=True,
        )
    except (binascii.Error, ValueError):
        raise ApiError(400, f"Invalid value at '{where}' (TYPE_BYTES), Base64 decoding failed") from None


def _depth(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            item
            for node in level
            if isinstance(node, dict | list)
            for item in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return
    raise ApiError(400, "Message too deep. Max recursion depth reached.")
