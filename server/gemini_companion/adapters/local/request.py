"""From a request to the messages that llama.cpp's chat template takes. Pure.

The model's control tokens in what people, files and tools say would end the text that they stand in and begin another
role's. So a space of no width goes into each of them, in the request only. What steers other models alone is a text
like any other here: code is full of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.sessions.models.port import ModelRequest

Json: TypeAlias = dict[str, Any]

ANSWER_TOKENS: Final = 4_096
"""The most tokens of an answer, unless the request says less: weak models repeat themselves until they are stopped."""

UTILITY_TEMPERATURE: Final = 0.2
"""Of snapshots and titles."""

_NO_WIDTH: Final = "\u200b"
_OPENING: Final = "(The conversation goes on.)"


class Abilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a model's chat template can do."""

    system: bool = True
    """It has a place for a system instruction."""
    tools: bool = False
    """It has a place for tools and what they answer."""


def defusing(control_tokens: Iterable[str]) -> Callable[[str], str]:
    """A function that takes the meaning from these tokens in a text, and leaves all else as it is."""
    tokens = sorted({token for token in control_tokens if token}, key=lambda token: (-len(token), token))
    if not tokens:
        return str
    pattern = re.compile("|".join(map(re.escape, tokens)))

    def defuse(text: str) -> str:
        return pattern.sub(lambda match: match[0][0] + _NO_WIDTH + match[0][1:], text)

    return defuse


def chat_body(request: ModelRequest, abilities: Abilities, defuse: Callable[[str], str], window: int) -> Json:
    """The body of a streamed chat completion.

    An answer may have a quarter of the window, a snapshot an eighth: so much the summariser keeps free for it.
    """
    share = window // (4 if request.role == "main" else 8)
    body: Json = {
        **prompt_body(request, abilities, defuse),
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # an event for each batch of the prompt: at one of them a request can be given up
        "cache_prompt": True,
        "max_tokens": max(1, min(request.max_output_tokens or ANSWER_TOKENS, ANSWER_TOKENS, share)),
    }
    temperature = request.temperature
    if temperature is None and request.role != "main":
        temperature = UTILITY_TEMPERATURE
    return body if temperature is None else {**body, "temperature": temperature}


def prompt_body(request: ModelRequest, abilities: Abilities, defuse: Callable[[str], str]) -> Json:
    """The part of the body that the prompt is made of: the messages, and the tools if the template has them."""
    messages = [message for content in request.contents for message in _messages(content, abilities, defuse)]
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": _OPENING})
    messages = _alternating(messages)
    if system := request.system_instruction:
        if abilities.system:
            messages.insert(0, {"role": "system", "content": defuse(system)})
        elif messages and messages[0]["role"] == "user":
            messages[0] = {**messages[0], "content": f"{defuse(system)}\n\n{messages[0]['content']}"}
        else:
            messages.insert(0, {"role": "user", "content": defuse(system)})
    body: Json = {"messages": messages}
    if request.tools and abilities.tools:
        body["tools"] = [{"type": "function", "function": _declaration(tool)} for tool in request.tools]
    return body


def _messages(content: Content, abilities: Abilities, defuse: Callable[[str], str]) -> list[Json]:
    """One content as messages: its text, its calls of tools, what tools answered, each on its own where that is due."""
    texts: list[str] = []
    calls: list[Json] = []
    answers: list[Json] = []
    for part in content.parts:
        if part.get("thought") is True:
            continue
        call, response = part.get("functionCall"), part.get("functionResponse")
        if abilities.tools and isinstance(call, dict) and content.role == "model":
            calls.append(_call(cast("Json", call), defuse))
        elif abilities.tools and isinstance(response, dict):
            answers.append(_answer(cast("Json", response), defuse))
        elif text := _text(part):
            texts.append(defuse(text))
    messages = answers
    if texts or calls:
        message: Json = {"role": "assistant" if content.role == "model" else "user", "content": "\n".join(texts)}
        messages.append({**message, "tool_calls": calls} if calls else message)
    return messages


def _text(part: Part) -> str:
    """A part as text; what is no text is named."""
    text = part.get("text")
    if isinstance(text, str):
        return text
    for field in ("inlineData", "fileData"):
        if isinstance(media := part.get(field), dict):
            kind = str(cast("Json", media).get("mimeType") or "unknown type")[:80]
            return f"[A file ({kind}) was left out: this model reads only text.]"
    for field, words in (("functionCall", "Called the tool"), ("functionResponse", "The tool answered")):
        if isinstance(value := part.get(field), dict):
            return f"[{words}: {_json(cast('Json', value))}]"
    known = {key: value for key, value in part.items() if key not in ("thought", "thoughtSignature")}
    return _json(known) if known else ""


def _call(call: Json, defuse: Callable[[str], str]) -> Json:
    arguments = _json(cast("object", call.get("args")) or {})
    called: Json = {
        "type": "function",
        "function": {"name": str(call.get("name") or ""), "arguments": defuse(arguments)},
    }
    return {"id": str(call["id"]), **called} if call.get("id") else called


def _answer(response: Json, defuse: Callable[[str], str]) -> Json:
    message: Json = {
        "role": "tool",
        "name": str(response.get("name") or ""),
        "content": defuse(_json(response.get("response") or {})),
    }
    return {**message, "tool_call_id": str(response["id"])} if response.get("id") else message


def _declaration(tool: Mapping[str, Any]) -> Json:
    """A function declaration in OpenAI's form; Gemini writes types in capitals."""
    parameters = tool.get("parametersJsonSchema") or _lower_types(tool.get("parameters") or {"type": "object"})
    return {
        "name": str(tool.get("name") or ""),
        "description": str(tool.get("description") or ""),
        "parameters": parameters,
    }


def _lower_types(schema: object) -> object:
    if isinstance(schema, list):
        return [_lower_types(item) for item in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("Json", schema)
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else _lower_types(value)
        for key, value in fields.items()
    }


def _alternating(messages: list[Json]) -> list[Json]:
    """Neighbours of one role joined, as templates require; those with calls or of tools stay as they are."""
    joined: list[Json] = []
    for message in messages:
        last = joined[-1] if joined else None
        is_plain = message["role"] in ("user", "assistant") and "tool_calls" not in message
        if last is not None and is_plain and last["role"] == message["role"] and "tool_calls" not in last:
            joined[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            joined.append(message)
    return joined


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
