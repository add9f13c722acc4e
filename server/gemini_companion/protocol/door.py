"""One client's server: answers `initialize` at once, and binds the application's methods right after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import lsp, names
from gemini_companion.protocol.codec import decode
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.server import CompanionServer, Hooks

if TYPE_CHECKING:
    from gemini_companion.protocol.host import Host


def create_server(
    *,
    version: str,
    protocol_version: str,
    host: Callable[[Connection], Host],
    on_ready: Callable[[Connection], None],
    on_close: Callable[[Connection], Awaitable[None]],
) -> CompanionServer:
    """A server that loads everything beyond LSP's handshake with the first message after it.

    `host` makes the application's side of a connection; it is called once, from then on methods are bound. Nothing here outlives the call
    but the server itself.
    """
    said: dict[Connection, InitializationOptions] = {}

    def initialize(connection: Connection, params: lsp.InitializeParams) -> Mapping[str, Any]:
        said[connection] = _options(params.initialization_options)
        return {"codeActionProvider": {"codeActionKinds": ["", "quickfix"]}}

    def load(server: CompanionServer) -> None:
        from gemini_companion.protocol.binding import bind

        connection = server.connection
        bind(server, host(connection), connection, said.pop(connection))

    return CompanionServer(
        name="gemini-companion",
        version=version,
        hooks=Hooks(on_initialize=initialize, on_initialized=on_ready, on_close=on_close),
        protocol_version=protocol_version,
        methods=names.METHODS,
        commands=names.COMMANDS,
        events=names.EVENTS,
        loader=load,
    )


def _options(raw: object) -> InitializationOptions:
    """The client's options; `null` and an empty list (an empty Lua table) count as none."""
    if raw in (None, []):
        return InitializationOptions()
    try:
        return decode(InitializationOptions, raw, root="$.initializationOptions")
    except InvalidInput as fault:
        raise InvalidInput(fault.message, path=fault.path, hint="Correct the editor's initializationOptions.") from None
