"""`workspace/executeCommand`: the same handlers for editors without our extension, with the outcome as a message for
people.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from gemini_companion.engine.errors import Cancelled, CompanionError, InvalidInput
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.editor_state import span_of
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.messages import ERROR, INFO, sentence_for, show_message
from gemini_companion.protocol.methods import Request, request
from gemini_companion.protocol.paths import path_of
from gemini_companion.protocol.routes import Routes
from gemini_companion.protocol.table import REQUESTS
from gemini_companion.protocol.types import PinSelectionParams
from gemini_companion.sessions import pins
from gemini_companion.sessions.results import Pin


async def pin_selection(host: Host, params: PinSelectionParams) -> Pin:
    """Pin the text of a range of an open document."""
    path = path_of(params.uri)
    text = host.client.editor.text(path, span_of(params.range)).strip() if path else ""
    if not text:
        raise InvalidInput(
            "There is no text in this range of an open document.", path="$.range", hint="Select some text first."
        )
    return await pins.pin(await host.hold(params.session_id), text=text)


_BY_NAME: Final = {method.name: method for method in REQUESTS}

COMMANDS: Final[dict[str, Request[Any, Any]]] = {
    "gemini.chat": _BY_NAME["gemini/chat"],
    "gemini.compress": _BY_NAME["gemini/compress"],
    "gemini.compressionStatus": _BY_NAME["gemini/compressionStatus"],
    "gemini.undoCompression": _BY_NAME["gemini/compression/undo"],
    "gemini.newSession": _BY_NAME["gemini/session/new"],
    "gemini.pinSelection": request("gemini/pin", pin_selection, doc="Pin the selected text."),
    "gemini.showContext": _BY_NAME["gemini/context"],
}


def bind_commands(routes: Routes, host: Host) -> None:
    """Offer every command."""
    for name, method in COMMANDS.items():
        routes.bind_command(name, method, _with_message(partial(method.handler, host), host.connection))


def _with_message(call: Callable[[Any], Awaitable[Any]], connection: Connection) -> Callable[[Any], Awaitable[Any]]:
    """The same call, its outcome shown to the person as well."""

    async def run(params: Any) -> Any:
        try:
            result = await call(params)
        except Cancelled as fault:  # the person did that
            show_message(connection, INFO, fault.message)
            raise
        except CompanionError as fault:
            show_message(connection, ERROR, fault.message_with_hint)
            raise
        show_message(connection, INFO, sentence_for(result))
        return result

    return run
