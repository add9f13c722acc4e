"""Messages of servers, from bytes to the SDK's types. What is none is told, and never hangs a request."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from gemini_companion.engine.mcp.listed import mended
from gemini_companion.sessions.threads import CHARACTERS_A_UNIT, off_loop

_INTERNAL: Final = -32603


async def message_of(line: bytes) -> SessionMessage | None:
    """The message of a line; `None` for a line that is none."""
    message = await off_loop(len(line) // CHARACTERS_A_UNIT, lambda: _read(line))
    return None if message is None else SessionMessage(message)


def with_mended_lists(message: JSONRPCMessage) -> JSONRPCMessage:
    """The same message, with lists mended."""
    if isinstance(message, JSONRPCResponse):
        message.result = mended(message.result)
    return message


def _read(line: bytes) -> JSONRPCMessage | None:
    try:
        value = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    if "result" in fields:
        result: object = fields["result"]
        fields["result"] = mended(cast("dict[str, Any]", result) if isinstance(result, dict) else {"result": result})
    try:
        return jsonrpc_message_adapter.validate_python(fields, by_name=False)
    except (ValidationError, RecursionError):
        answered = fields.get("id")
        if isinstance(answered, int | str) and not isinstance(answered, bool) and "method" not in fields:
            error = ErrorData(code=_INTERNAL, message="The answer is malformed.")
            return JSONRPCError(jsonrpc="2.0", id=answered, error=error)
        return None
