"""Messages of servers, from bytes to the SDK's types. What is none is told, and never hangs a request."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import TypeAdapter, ValidationError

from gemini_companion.engine.mcp.listed import mended
from gemini_companion.sessions.threads import CHARACTERS_A_UNIT, off_loop

_INTERNAL: Final = -32603
STRICT: Final = jsonrpc_message_adapter


async def message_of(line: bytes) -> SessionMessage | None:
    """The message of a line; `None` for a line that is none."""
    message = await off_loop(len(line) // CHARACTERS_A_UNIT, lambda: _read(line))
    return None if message is None else SessionMessage(message)


class ForgivingReader:
    """In the place of the SDK's reader of messages: takes what `message_of` does."""

    def __init__(self, strict: TypeAdapter[JSONRPCMessage]) -> None:
        self._strict = strict

    def validate_json(self, data: str | bytes, **options: Any) -> JSONRPCMessage:
        """The message. Raises `ValidationError`."""
        message = _read(data)
        return self._strict.validate_json(data, **options) if message is None else message

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strict, name)


def _integer(digits: str) -> int | str:
    """The number, or its digits where Python makes none of so many: else a call waited for its answer."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _read(data: str | bytes) -> JSONRPCMessage | None:
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    try:
        value = json.loads(text.lstrip("\ufeff"), parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    if "result" in fields:
        result: object = fields["result"]
        fields["result"] = mended(cast("dict[str, Any]", result) if isinstance(result, dict) else {"result": result})
    error: object = fields.get("error")
    if error is not None and "result" not in fields:
        given = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
        code, words = given.get("code"), given.get("message", error)
        fields["error"] = {
            "code": code if isinstance(code, int) else _INTERNAL,
            "message": words if isinstance(words, str) else json.dumps(words, ensure_ascii=False),
        }
    fields["jsonrpc"] = "2.0"
    try:
        return STRICT.validate_python(fields, by_name=False)
    except (ValidationError, RecursionError):
        answered = fields.get("id")
        if isinstance(answered, int | str) and not isinstance(answered, bool) and "method" not in fields:
            error = ErrorData(code=_INTERNAL, message="The answer is malformed.")
            return JSONRPCError(jsonrpc="2.0", id=answered, error=error)
        return None
