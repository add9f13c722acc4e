"""`workspace/executeCommand`: the same handlers for editors without our plugin, with the outcome as a message for people."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from gemini_companion.engine.errors import Cancelled, CompanionError, InvalidInput
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.handlers import chat, sessions
from gemini_companion.protocol.handlers.editor import span_of
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Request
from gemini_companion.protocol.paths import path_of
from gemini_companion.protocol.server import CompanionServer
from gemini_companion.protocol.types import (
    ChatParams,
    CompressParams,
    NewSessionParams,
    PinSelectionParams,
    SessionParams,
    UndoParams,
)
from gemini_companion.sessions.results import ChatResult, CompressionStatusReport, ContextReport, Pin, SessionInfo

_ERROR: Final = 1
_INFO: Final = 3
_SHOWN_CHARACTERS: Final = 1_000


async def pin_selection(host: Host, connection: Connection, params: PinSelectionParams) -> Pin:
    """Pin the text of a range of an open document."""
    client = host.client(connection)
    path = path_of(params.uri)
    text = client.editor.text(path, span_of(params.range)).strip() if path else ""
    if not text:
        raise InvalidInput("There is no text in this range of an open document.", path="$.range", hint="Select some text first.")
    session = await host.app.writing(client, params.session_id)
    return await sessions.pin_text(session, text)


COMMANDS: Final[dict[str, Request[Any, Any]]] = {
    "gemini.chat": Request("gemini/chat", ChatParams, ChatResult, chat.chat, doc="Send a prompt."),
    "gemini.compress": Request("gemini/compress", CompressParams, CompressionResult, chat.compress, doc="Compress the history."),
    "gemini.compressionStatus": Request(
        "gemini/compressionStatus", SessionParams, CompressionStatusReport, chat.compression_status, doc="Where compression stands."
    ),
    "gemini.undoCompression": Request("gemini/compression/undo", UndoParams, CompressionResult, chat.undo_, doc="Take the last compaction back."),
    "gemini.newSession": Request("gemini/session/new", NewSessionParams, SessionInfo, sessions.new, doc="Start a session.", scope="ordered"),
    "gemini.pinSelection": Request("gemini/pin", PinSelectionParams, Pin, pin_selection, doc="Pin the selected text."),
    "gemini.showContext": Request("gemini/context", SessionParams, ContextReport, sessions.context, doc="The token ledger."),
}


def bind_commands(server: CompanionServer, host: Host) -> None:
    """Offer every command."""
    for name, method in COMMANDS.items():
        server.bind_command(name, method, _told(partial(method.handler, host)))


def _told(call: Callable[[Connection, Any], Awaitable[Any]]) -> Callable[[Connection, Any], Awaitable[Any]]:
    """The same call, its outcome shown to the person as well."""

    async def told(connection: Connection, params: Any) -> Any:
        try:
            result = await call(connection, params)
        except Cancelled as fault:  # the person did that
            _show(connection, _INFO, fault.message)
            raise
        except CompanionError as fault:
            _show(connection, _ERROR, fault.told)
            raise
        _show(connection, _INFO, sentence_for(result))
        return result

    return told


def _show(connection: Connection, kind: int, message: str) -> None:
    if len(message) > _SHOWN_CHARACTERS:
        connection.send_notification("window/logMessage", {"type": kind, "message": message})
        message = f"{message[:_SHOWN_CHARACTERS].rstrip()} … (the rest is in the editor's log of this server)"
    if message:
        connection.send_notification("window/showMessage", {"type": kind, "message": message})


def sentence_for(result: object) -> str:
    """An outcome in a sentence for people."""
    match result:
        case ChatResult(stopped=None, text=text):
            return text
        case ChatResult(stopped="contextWindowWillOverflow"):
            return "The prompt does not fit into what is left of the model's window; nothing was sent. Compress the chat or shorten the prompt."
        case ChatResult(stopped="maxTurns"):
            return "This chat has used up its prompts (model.maxSessionTurns); nothing was sent. Start a new chat or raise the limit."
        case ChatResult(stopped=stopped):
            return f"The turn was ended early ({stopped})."
        case CompressionResult(message=message):
            return message
        case CompressionStatusReport(state=state, token_count=count, token_limit=limit, tokens_until_compression=left):
            more = f"after {left:,} more" if left else "with the next prompt"
            until = "automatic compression is off" if left is None else f"it starts by itself {more}"
            return f"Compression is {state}: {count:,} of {limit:,} tokens used; {until}."
        case SessionInfo():
            return "A new chat has begun."
        case Pin(text=text):
            return f"Pinned: {text[:100]}"
        case ContextReport(token_count=count, token_limit=limit, by_part=parts):
            return (
                f"{count:,} of {limit:,} tokens: system {parts.system_instruction + parts.tools:,}, environment {parts.environment:,}, "
                f"editor {parts.ide_context:,}, snapshot {parts.snapshot:,}, messages {parts.messages:,}, tool outputs {parts.tool_outputs:,}."
            )
        case _:
            return ""
