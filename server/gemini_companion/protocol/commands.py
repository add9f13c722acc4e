"""`workspace/executeCommand`: the same handlers for editors without our extension, with the outcome as a message for
people.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from gemini_companion.engine.errors import Cancelled, CompanionError
from gemini_companion.protocol import handlers
from gemini_companion.protocol.methods import Request, request
from gemini_companion.protocol.table import REQUESTS

if TYPE_CHECKING:
    from gemini_companion.protocol.host import Host
    from gemini_companion.protocol.routes import Routes


_BY_NAME: Final = {method.name: method for method in REQUESTS}

COMMANDS: Final[dict[str, Request[Any, Any]]] = {
    "gemini.chat": _BY_NAME["gemini/chat"],
    "gemini.compress": _BY_NAME["gemini/compress"],
    "gemini.compressionStatus": _BY_NAME["gemini/compressionStatus"],
    "gemini.undoCompression": _BY_NAME["gemini/compression/undo"],
    "gemini.newSession": _BY_NAME["gemini/session/new"],
    "gemini.pinSelection": request("gemini/pin", lambda: handlers.editor.pin_selection, doc="Pin the selected text."),
    "gemini.showContext": _BY_NAME["gemini/context"],
}


def bind_commands(routes: Routes, host: Host) -> None:
    """Offer every command."""
    for name, method in COMMANDS.items():
        routes.bind_command(name, method, _with_message(method, host))


def _with_message(method: Request[Any, Any], host: Host) -> Callable[[Any], Awaitable[Any]]:
    """Calls the handler, and shows the outcome to the person as well."""

    async def run(params: Any) -> Any:
        from gemini_companion.protocol.messages import ERROR, INFO, sentence_for, show_message

        try:
            result = await method.handler(host, params)
        except Cancelled as fault:  # the person did that
            show_message(host.connection, INFO, fault.message)
            raise
        except CompanionError as fault:
            show_message(host.connection, ERROR, fault.message_with_hint)
            raise
        show_message(host.connection, INFO, sentence_for(result))
        return result

    return run
