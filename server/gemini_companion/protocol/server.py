"""pygls around a dispatcher, with the ways to its traps closed.

pygls gives the workspace and the typed requests to the client (`server.window_show_document_async`, …). Its way from a
message to a handler is not used, because there a request can stay without an answer: params that do not structure, an
object within params that looks like a message, a second request with an id in flight, anything after `shutdown`. The
private names of pygls that are taken here are `_send_data`, `_request_futures`, `_handle_response` and
`_register_builtin_features`: pygls is pinned to 2.1, and a test holds each trap closed.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from gemini_companion.protocol.calls import MessageId
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.dispatch import Dispatcher, Writer
from gemini_companion.protocol.documents import open_workspace
from gemini_companion.protocol.errors import log_defect
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.routes import Routes

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.workspace import Workspace

logging.getLogger("pygls").setLevel(logging.WARNING)  # at INFO it logs the body of every message


class CompanionProtocol(LanguageServerProtocol):
    """pygls' side of one client: whatever comes in or goes out passes the dispatcher."""

    _server: CompanionServer  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def workspace(self) -> Workspace:
        """The open documents. Raises `RuntimeError` before `initialize`."""
        return cast("Workspace", self._server.dispatcher.documents)

    def handle_message(self, message: object) -> None:
        """Take one decoded message. Never raises."""
        self._server.dispatcher.handle_message(message)

    def structure_message(self, data: Any) -> Any:
        """Leave every object as it is: pygls would have this called for each nested one."""
        return data

    def set_writer(self, writer: Any, include_headers: bool = True) -> None:
        """Send what is sent from now on there."""
        self._server.dispatcher.set_writer(cast("Writer", writer), include_headers=include_headers)

    def receive_answer(self, call_id: MessageId, message: Mapping[str, Any]) -> None:
        """Take the answer to a request that was sent through pygls' typed methods; ignore any other."""
        if call_id not in self._request_futures:
            return
        try:
            typed = cast("Any", super().structure_message(dict(message)))
            self._handle_response(typed.id, getattr(typed, "result", None), getattr(typed, "error", None))
        except Exception as error:
            if future := self._request_futures.pop(call_id, None):
                future.set_exception(error)

    def _send_data(self, data: Any) -> None:
        self._server.dispatcher.send(self._converter.unstructure(data))

    def _register_builtin_features(self) -> None:
        """Pygls' own handlers are never reached."""


class CompanionServer(LanguageServer):
    """A server for one client. Several clients are several of these around one application."""

    protocol: CompanionProtocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, description: ServerDescription, lifecycle: Lifecycle | None = None) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            description.name,
            description.version,
            protocol_cls=CompanionProtocol,
            converter_factory=_converter_on_demand,
        )
        self.dispatcher = Dispatcher(
            description,
            open_workspace=open_workspace,
            lifecycle=lifecycle,
            on_other_answer=self.protocol.receive_answer,
        )

    @property
    def connection(self) -> Connection:
        """The client."""
        return self.dispatcher.connection

    @property
    def routes(self) -> Routes:
        """What the client can send."""
        return self.dispatcher.routes

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log it; pygls would show it to the user."""
        log_defect(error, doing=getattr(source, "__name__", "pygls"))

    def feature(self, feature_name: str, options: Any | None = None) -> NoReturn:
        """Refuse: pygls' way to a decorated handler is where its traps are."""
        raise TypeError(f"bind {feature_name} with CompanionServer.routes")

    def command(self, command_name: str) -> NoReturn:
        """Refuse, like `feature`."""
        raise TypeError(f"bind {command_name} with CompanionServer.routes")


class _ConverterOnDemand:
    """lsprotocol's converter takes 12 ms to build and only pygls' typed requests to the client need it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_converter(), name)


@functools.cache
def _converter() -> Converter:
    return default_converter()


def _converter_on_demand() -> Converter:
    return cast("Converter", _ConverterOnDemand())
