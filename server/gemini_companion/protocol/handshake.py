"""One client's server: answers `initialize` at once, and binds the application's methods right after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import names
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.codec import decode
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.loading import loading
from gemini_companion.protocol.lsp import InitializeParams
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.routes import Routes
from gemini_companion.protocol.server import CompanionServer

if TYPE_CHECKING:
    from gemini_companion.protocol.host import Host


def create_server(
    *,
    version: str,
    create_host: Callable[[Connection, InitializationOptions], Host],
    on_ready: Callable[[Connection], None],
    on_close: Callable[[Connection], Awaitable[None]],
) -> CompanionServer:
    """A server that loads everything beyond LSP's handshake once that is answered.

    `create_host` makes the application's side of a connection; it is called at most once, before `on_ready`.
    `on_ready` is called when the client takes requests and notifications, `on_close` when it has left.
    """
    options = InitializationOptions()

    def initialize(_connection: Connection, params: InitializeParams) -> Mapping[str, Any]:
        nonlocal options
        options = _options(params.initialization_options)
        return {"codeActionProvider": {"codeActionKinds": ["", "quickfix"]}}

    def bind_methods(connection: Connection, routes: Routes) -> None:
        with loading(is_last=True):
            from gemini_companion.protocol.binding import bind

            bind(routes, create_host(connection, options))

    return CompanionServer(
        ServerDescription(
            name="gemini-companion",
            version=version,
            methods=names.METHODS,
            commands=names.COMMANDS,
            events=names.EVENTS,
        ),
        Lifecycle(on_initialize=initialize, bind=bind_methods, on_initialized=on_ready, on_close=on_close),
    )


def _options(raw: object) -> InitializationOptions:
    """The client's options; `null` and an empty list (an empty Lua table) count as none."""
    if raw in (None, []):
        return InitializationOptions()
    try:
        return decode(InitializationOptions, raw, root="$.initializationOptions")
    except InvalidInput as fault:
        raise InvalidInput(fault.message, path=fault.path, hint="Correct the editor's initializationOptions.") from None
