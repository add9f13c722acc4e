"""One client's server: answers `initialize` at once, and binds the application's methods right after.

Over stdio it is a dispatcher alone. pygls' server, which nothing before the answer needs, is around it only where its
typed requests to the client are wanted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import names
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.codec import decode
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.dispatch import Dispatcher
from gemini_companion.protocol.late_workspace import LateWorkspace
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.loading import loading
from gemini_companion.protocol.lsp import InitializeParams
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.routes import Routes

if TYPE_CHECKING:
    from gemini_companion.protocol.host import Host
    from gemini_companion.protocol.server import CompanionServer


class Handshake:
    """What a client is told of the daemon, and what the daemon does at the turning points of its life.

    `create_host` makes the application's side of a connection; it is called at most once, before `on_ready`. `load`
    makes the steps of `Lifecycle.load`. `on_ready` is called when the client takes requests and notifications,
    `on_close` when it has left.
    """

    def __init__(
        self,
        *,
        version: str,
        create_host: Callable[[Connection, InitializationOptions], Host],
        on_ready: Callable[[Connection], None],
        on_close: Callable[[Connection], Awaitable[None]],
        load: Callable[[], Iterable[object]],
    ) -> None:
        self._create_host = create_host
        self._options = InitializationOptions()
        self._description = ServerDescription(
            name="gemini-companion",
            version=version,
            methods=names.METHODS,
            commands=names.COMMANDS,
            events=names.EVENTS,
        )
        self._lifecycle = Lifecycle(
            on_initialize=self._initialize, load=load, bind=self._bind, on_initialized=on_ready, on_close=on_close
        )

    def dispatcher(self) -> Dispatcher:
        """A dispatcher for the one client."""
        return Dispatcher(self._description, open_workspace=LateWorkspace, lifecycle=self._lifecycle)

    def server(self) -> CompanionServer:
        """The same with pygls' server around it."""
        from gemini_companion.protocol.server import CompanionServer

        return CompanionServer(self._description, self._lifecycle)

    def _initialize(self, _connection: Connection, params: InitializeParams) -> Mapping[str, Any]:
        self._options = _options(params.initialization_options)
        return {"codeActionProvider": {"codeActionKinds": ["", "quickfix"]}}

    def _bind(self, connection: Connection, routes: Routes) -> None:
        with loading(is_last=True):
            from gemini_companion.protocol.binding import bind

            bind(routes, self._create_host(connection, self._options))


def _options(raw: object) -> InitializationOptions:
    """The client's options; `null` and an empty list (an empty Lua table) count as none."""
    if raw in (None, []):
        return InitializationOptions()
    try:
        return decode(InitializationOptions, raw, root="$.initializationOptions")
    except InvalidInput as fault:
        raise InvalidInput(fault.message, path=fault.path, hint="Correct the editor's initializationOptions.") from None
