"""From llama.cpp's stream of events to `ModelChunk`s: text, thoughts, calls of tools, usage. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

from gemini_companion.engine.errors import ContextOverflow, ModelFault, ModelUnavailable
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.models.port import ModelChunk

Json: TypeAlias = dict[str, Any]

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""The longest event that is read."""

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_FINISH: Final[Mapping[str, str]] = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP"}


class Events:
    """Takes a stream's bytes as they come and gives the JSON of each whole event. Linear in the bytes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[Json]:
        """The events that `data` completes. Raises `ModelUnavailable` for what is no event."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            yield from self._read(b"".join((*self._pieces, line)))
            self._pieces, self._size = [], 0
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
            if self._size > MAX_LINE_BYTES:
                raise _unreadable()

    def _read(self, line: bytes) -> Iterator[Json]:
        name, _, value = line.strip().partition(b":")
        value = value.strip()
        if name not in (b"data", b"error") or not value or value == b"[DONE]":
            return
        try:
            event = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            raise _unreadable() from None
        if not isinstance(event, dict):
            raise _unreadable()
        yield {"error": event} if name == b"error" else cast("Json", event)


class Answer:
    """One answer as it arrives."""

    def __init__(self, model_version: str) -> None:
        self._version = model_version
        self._thoughts = ThoughtSplitter()
        self._calls: dict[int, Json] = {}

    def add(self, event: Json) -> Iterator[ModelChunk]:
        """The chunks of an event: of most one, of those about the prompt none. Raises the fault that an event tells."""
        if error := event.get("error"):
            raise fault_of(error)
        choice = _first(event.get("choices"))
        delta = _object(choice.get("delta"))
        parts: list[Part] = []
        if isinstance(thought := delta.get("reasoning_content"), str) and thought:
            parts.append({"text": thought, "thought": True})
        if isinstance(text := delta.get("content"), str):
            parts += self._thoughts.feed(text)
        for call in _objects(delta.get("tool_calls")):
            self._gather(call)
        finish = choice.get("finish_reason")
        if isinstance(finish, str):
            parts += self._thoughts.rest()
            parts += [_call_of(self._calls[index]) for index in sorted(self._calls)]
            reason = _FINISH.get(finish, finish.upper())
            yield ModelChunk(parts=tuple(parts), finish_reason=reason, model_version=self._version)
        elif parts:
            yield ModelChunk(parts=tuple(parts))
        if usage := _object(event.get("usage")):
            yield ModelChunk(usage=_usage(usage))

    def _gather(self, call: Json) -> None:
        index = call.get("index")
        gathered = self._calls.setdefault(index if isinstance(index, int) else 0, {"id": "", "name": "", "args": ""})
        function = _object(call.get("function"))
        for field, piece in (("id", call.get("id")), ("name", function.get("name"))):
            if isinstance(piece, str) and piece:
                gathered[field] = piece
        if isinstance(arguments := function.get("arguments"), str):
            gathered["args"] += arguments


class ThoughtSplitter:
    """Parts `<think>…</think>` at the beginning of an answer from the answer, whatever pieces it comes in."""

    def __init__(self) -> None:
        self._state: str = "start"
        self._held = ""

    def feed(self, text: str) -> list[Part]:
        """The parts that are certain by now."""
        self._held += text
        if self._state == "start":
            begun = self._held.lstrip()
            if _OPEN.startswith(begun) and begun != _OPEN:
                return []  # it may become the mark, or it is nothing yet
            if begun.startswith(_OPEN):
                self._state, self._held = "thought", begun[len(_OPEN) :].lstrip("\n")
            else:
                self._state = "answer"
        if self._state == "thought":
            return self._thought()
        held, self._held = self._held, ""
        return [{"text": held}] if held else []

    def rest(self) -> list[Part]:
        """What was held back, at the end of the answer."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [{"text": held, "thought": True}] if self._state == "thought" else [{"text": held}]

    def _thought(self) -> list[Part]:
        thought, mark, answer = self._held.partition(_CLOSE)
        if mark:
            self._state, self._held = "answer", ""
            parts: list[Part] = [{"text": thought, "thought": True}] if thought.strip() else []
            answer = answer.lstrip("\n")
            return [*parts, {"text": answer}] if answer else parts
        keep = next((size for size in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:size])), 0)
        self._held = thought[len(thought) - keep :]
        certain = thought[: len(thought) - keep]
        return [{"text": certain, "thought": True}] if certain else []


def fault_of(error: object) -> ModelFault:
    """The fault for an error of llama.cpp's."""
    told = _object(error)
    kind = told.get("type")
    if kind == "exceed_context_size_error":
        tokens, window = told.get("n_prompt_tokens"), told.get("n_ctx")
        return ContextOverflow(
            f"The request has {tokens} tokens, and the model on this machine takes {window}.",
            hint="Compress the chat, or set `model.tokenLimit` higher, as far as the model and the memory allow.",
        )
    message = str(told.get("message") or "no reason was given")
    line = " ".join("".join(char if char.isprintable() else " " for char in message[:2_000]).split())[:300]
    return ModelUnavailable(
        f"The model on this machine refused the request: {line.rstrip('.')}.",
        hint="Try another prompt, or another file in `model.local`.",
        retryable=False,
    )


def _call_of(gathered: Json) -> Part:
    try:
        arguments = msgspec.json.decode(gathered["args"] or "{}")
    except (msgspec.DecodeError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise ModelUnavailable("The model called a tool with arguments that cannot be read.", hint="Try again.")
    call: Json = {"name": gathered["name"], "args": arguments}
    return {"functionCall": {"id": gathered["id"], **call} if gathered["id"] else call}


def _usage(usage: Json) -> Usage:
    details = _object(usage.get("prompt_tokens_details"))
    prompt, output = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=_count(details.get("cached_tokens")),
        output_tokens=output,
        total_tokens=prompt + output,
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else 0


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _objects(value: object) -> list[Json]:
    return [_object(item) for item in cast("list[object]", value)] if isinstance(value, list) else []


def _first(value: object) -> Json:
    found = _objects(value)
    return found[0] if found else {}


def _unreadable() -> ModelUnavailable:
    return ModelUnavailable("The answer of the model on this machine cannot be read.", hint="Try again.")
