"""The door between a client and the application: pygls, with its traps closed.

pygls gives the workspace, the typed requests to the client and the exceptions. Its way from a message to a handler is replaced, because
there a request can stay without an answer: params that do not structure, an object within params that looks like a message, a second
request with an id in flight, anything after `shutdown`. Here every request gets exactly one answer, whatever was sent. The names with an
underscore that this takes are `_send_data`, `_workspace`, `_request_futures`, `_handle_response`, `_register_builtin_features` and
`_include_headers`: pygls is pinned to 2.1, and a test holds each trap closed.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, TypeGuard, TypeVar, cast

import msgspec
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from gemini_companion.engine.errors import InvalidInput, Overloaded
from gemini_companion.protocol import lifecycle, lsp
from gemini_companion.protocol.calls import Calls, MessageId, error_body
from gemini_companion.protocol.codec import MAX_DEPTH, decode, decode_body, decode_params, encode_body, is_too_deep
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.errors import INVALID_REQUEST, METHOD_NOT_FOUND, NOT_INITIALIZED, log_defect, refusal, to_wire
from gemini_companion.protocol.frames import frame
from gemini_companion.protocol.methods import Notification, Request

if TYPE_CHECKING:
    from cattrs import Converter

    from gemini_companion.protocol.documents import Documents

logger = logging.getLogger(__name__)
logging.getLogger("pygls").setLevel(logging.WARNING)  # at INFO it logs the body of every message

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")
RequestCall: TypeAlias = Callable[[Connection, P], Awaitable[R]]
NotificationCall: TypeAlias = Callable[[Connection, P], None]

MAX_IN_FLIGHT: Final = 1024
"""Requests of one client that may be unanswered at once; more are refused as `overloaded`."""
CLOSE_TIMEOUT: Final = 10.0
"""Seconds for `Hooks.on_close`."""


def _no_capabilities(_connection: Connection, _params: lsp.InitializeParams) -> Mapping[str, Any]:
    return {}


def _nothing(_connection: Connection) -> None:
    pass


async def _nothing_to_close(_connection: Connection) -> None:
    pass


@dataclass(frozen=True, kw_only=True, slots=True)
class Hooks:
    """What the application does at the turning points of a client's life."""

    on_initialize: Callable[[Connection, lsp.InitializeParams], Mapping[str, Any]] = _no_capabilities
    """Returns further server capabilities. Not async, for the client waits for nothing else; a fault refuses the client."""
    on_initialized: Callable[[Connection], None] = _nothing
    """The client is ready to be spoken to."""
    on_close: Callable[[Connection], Awaitable[None]] = _nothing_to_close
    """The client has left and its requests have ended. Called once, also if it never said `initialize`."""


class CompanionProtocol(LanguageServerProtocol):
    """One client's side of the door: looks at every message once, and passes it on or refuses it."""

    _server: CompanionServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.connection = Connection(self)
        self.calls = Calls(self._write)
        self.requests: dict[str, tuple[Request[Any, Any], RequestCall[Any, Any]]] = {}
        self.commands: dict[str, tuple[Request[Any, Any], RequestCall[Any, Any]]] = {}
        self.notifications: dict[str, tuple[Notification[Any], NotificationCall[Any]]] = {}
        self.is_closed = False
        self.has_exited = False
        self._is_ready = False
        self._is_shut_down = False

    @property
    def documents(self) -> Documents:
        """The open documents. Raises `RuntimeError` before `initialize`."""
        return cast("Documents", self.workspace)

    @property
    def exit_code(self) -> int:
        """1 for a client that said `exit` without `shutdown`, as LSP has it; 0 for every other orderly end."""
        return 1 if self.has_exited and not self._is_shut_down else 0

    # ---- in

    def receive(self, body: bytes) -> None:
        """Take one message's body as it came from the client. Never raises."""
        try:
            message = decode_body(body)
        except JsonRpcException as error:
            self.refuse(None, error)
            return
        if is_too_deep(body, message):
            self.refuse(_id_of(message), refusal(INVALID_REQUEST, f"The message is nested deeper than {MAX_DEPTH} levels."))
        else:
            self.handle_message(message)

    def handle_message(self, message: object) -> None:
        """Take one decoded message. Never raises."""
        if not isinstance(message, dict):
            self.refuse(None, refusal(INVALID_REQUEST, "A message is one JSON object; LSP has no batches."))
            return
        fields = cast("dict[str, Any]", message)
        try:
            self._route(fields)
        except JsonRpcException as error:
            self.refuse(_id_of(fields), error)
        except Exception as error:
            answer = to_wire(error, doing="a message")
            if "id" in fields and "method" in fields:
                self.refuse(_id_of(fields), answer)

    def structure_message(self, data: Any) -> Any:
        """Leave every object as it is: pygls would have this called for each nested one."""
        return data

    def refuse_frame(self, reason: str) -> None:
        """Answer to bytes that are no message."""
        self.refuse(None, refusal(INVALID_REQUEST, reason))

    def refuse(self, call_id: MessageId | None, error: JsonRpcException) -> None:
        """Answer with an error; without an id for what could not be read so far."""
        self._write(error_body(call_id, error))

    def _route(self, message: dict[str, Any]) -> None:
        is_answer = "method" not in message and ("result" in message or "error" in message)
        if message.get("jsonrpc") != "2.0":
            if is_answer:
                return
            raise refusal(INVALID_REQUEST, 'The message has no "jsonrpc": "2.0".')
        if is_answer:
            self._on_answer(message)
            return
        if self._workspace is not None and not self._is_shut_down:
            self._server.load()
        method = message.get("method")
        if not isinstance(method, str):
            raise refusal(INVALID_REQUEST, "The message has no method, or one that is no string.")
        if "id" not in message:
            self._on_notification(method, message.get("params"))
            return
        call_id = _id_of(message)
        if call_id is None:
            raise refusal(INVALID_REQUEST, "An id is a string or an integer.")
        self._on_request(call_id, method, message.get("params"))

    def _on_request(self, call_id: MessageId, method: str, raw: object) -> None:
        if call_id in self.calls:
            raise refusal(INVALID_REQUEST, "A request with this id is in flight; its answer follows.")
        if self._is_shut_down:
            raise refusal(INVALID_REQUEST, "The server is shutting down.")
        if method == "initialize":
            self._initialize(call_id, raw)
        elif self._workspace is None:
            raise refusal(NOT_INITIALIZED, "The first request must be initialize.")
        elif method == "shutdown":
            self._is_shut_down = True
            self.calls.start(call_id, method, functools.partial(self.calls.cancel_all, but=call_id))
        elif len(self.calls) >= MAX_IN_FLIGHT:
            raise to_wire(Overloaded("Too many requests are waiting for an answer.", hint="Wait for some of them, then try again."))
        else:
            try:
                self._start(call_id, method, raw)
            except InvalidInput as error:
                raise to_wire(error) from None

    def _start(self, call_id: MessageId, name: str, raw: object) -> None:
        token: MessageId | None = None
        if name == lsp.EXECUTE_COMMAND:
            command = decode_params(lsp.ExecuteCommandParams, raw)
            if command.command not in self.commands:
                raise InvalidInput(f"$.command: there is no command {command.command[:100]!r}.", path="$.command")
            method, call = self.commands[command.command]
            token = command.work_done_token
            params = decode(method.params, lifecycle.command_argument(command), root="$.arguments[0]")
        elif name in self.requests:
            method, call = self.requests[name]
            params = decode_params(method.params, raw)
        else:
            raise refusal(METHOD_NOT_FOUND, f"There is no method {name[:100]!r}.")
        token = getattr(params, "work_done_token", token)
        self.calls.start(call_id, method.name, functools.partial(call, self.connection, params), token=token, scope=method.scope)

    def _initialize(self, call_id: MessageId, raw: object) -> None:
        if self._workspace is not None:
            raise refusal(INVALID_REQUEST, "The server is initialized already.")
        try:
            params = decode_params(lsp.InitializeParams, raw)
            documents = lifecycle.open_workspace(params)
            self.connection.capabilities = params.capabilities
            if params.client_info is not None:
                self.connection.name = params.client_info.name[:100]
            self._workspace = documents
            own = lifecycle.capabilities_of(documents, self._server.offered_commands(), self._server.experimental())
            capabilities = lifecycle.merge(own, self._server.hooks.on_initialize(self.connection, params))
        except Exception as error:
            self._workspace = None
            raise to_wire(error, doing="initialize") from None
        result = {"capabilities": capabilities, "serverInfo": {"name": self._server.name, "version": self._server.version}}
        self.send({"jsonrpc": "2.0", "id": call_id, "result": result})

    def _on_notification(self, method: str, raw: object) -> None:
        if method == "exit":
            self.has_exited = True
        elif method == "$/cancelRequest":
            call_id = _id_of(raw)
            if call_id is not None:
                self.calls.cancel(call_id)
        elif self._workspace is None or self._is_shut_down:
            logger.debug("Ignored outside of a session: %.100r", method)
        elif method == "initialized":
            if not self._is_ready:
                self._is_ready = True
                self._guarded(method, functools.partial(self._server.hooks.on_initialized, self.connection))
        elif method == "window/workDoneProgress/cancel":
            token = cast("dict[str, object]", raw).get("token") if isinstance(raw, dict) else None
            if _is_id(token):
                self.calls.cancel_progress(token)
                self._guarded(method, functools.partial(self.connection.receive_progress_cancel, token))
        else:
            self._guarded(method, functools.partial(self._notify, method, raw))

    def _notify(self, method: str, raw: object) -> None:
        own = lsp.DOCUMENT_NOTIFICATIONS.get(method)
        bound = self.notifications.get(method)
        if own is not None:
            params = decode_params(own, raw)
            lifecycle.apply_to_documents(self.documents, method, params)
        elif bound is not None:
            params = decode_params(bound[0].params, raw)
        else:
            if not method.startswith("$/"):
                logger.debug("Ignored, for nobody listens: %.100r", method)
            return
        if bound is not None:
            bound[1](self.connection, params)

    def _guarded(self, method: str, act: Callable[[], object]) -> None:
        """Do what a notification asks; nobody waits for an answer, so what goes wrong goes to the log. Never a message's own words."""
        try:
            act()
        except InvalidInput as error:
            logger.warning("Ignored %.100r: %s is not understood", method, error.path)
        except Exception as error:
            log_defect(error, doing=method)

    def _on_answer(self, message: dict[str, Any]) -> None:
        call_id = _id_of(message)
        if isinstance(call_id, int) and self.connection.receive_answer(call_id, message):
            return
        if call_id in self._request_futures:  # asked through pygls' own typed API
            try:
                typed = cast("Any", super().structure_message(message))
                self._handle_response(typed.id, getattr(typed, "result", None), getattr(typed, "error", None))
            except Exception as error:
                if future := self._request_futures.pop(call_id, None):
                    future.set_exception(error)

    # ---- out

    def send(self, message: object) -> None:
        """Queue one message: a mapping whose values may be Structs."""
        self._write(encode_body(message))

    def _send_data(self, data: Any) -> None:
        self.send(self._converter.unstructure(data))

    def _write(self, body: bytes) -> None:
        if self.writer is not None:
            self.writer.write(frame(body) if self._include_headers else body)

    async def close(self) -> None:
        """The client has left: end its requests, then tell the application. Called by whoever carries the bytes."""
        if self.is_closed:
            return
        self.is_closed = True
        self.connection.abandon()
        await self.calls.close()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await self._server.hooks.on_close(self.connection)
        except TimeoutError:
            logger.exception("Closing took longer than %d seconds", CLOSE_TIMEOUT)
        except Exception as error:
            log_defect(error, doing="closing")

    def _register_builtin_features(self) -> None:
        """None of pygls' own handlers is reached but through this door."""


class CompanionServer(LanguageServer):
    """A server for one client. Several clients are several of these around one application."""

    protocol: CompanionProtocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self,
        *,
        name: str,
        version: str,
        hooks: Hooks | None = None,
        protocol_version: str = "1",
        events: Sequence[str] = (),
        methods: Sequence[str] = (),
        commands: Sequence[str] = (),
        loader: Callable[[CompanionServer], None] | None = None,
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            name, version, protocol_cls=CompanionProtocol, converter_factory=_converter_on_demand
        )
        self.hooks = hooks or Hooks()
        self._protocol_version = protocol_version
        self._events = tuple(events)
        self._methods = tuple(methods)
        self._commands = tuple(commands)
        self._loader = loader

    def load(self) -> None:
        """Bind what was only named so far: `loader` runs once, with the first message after `initialize` was answered."""
        if (loader := self._loader) is not None:
            self._loader = None
            try:
                loader(self)
            except Exception as error:
                log_defect(error, doing="loading the methods")
                raise

    def offered_commands(self) -> Sequence[str]:
        """The commands that `initialize` names."""
        return self._commands or tuple(self.protocol.commands)

    @property
    def connection(self) -> Connection:
        """The client."""
        return self.protocol.connection

    def bind(self, method: Request[P, R], call: RequestCall[P, R]) -> None:
        """Answer a request with `call`. It gets decoded params; what it raises is translated by `errors.to_wire`."""
        _once(self.protocol.requests, method.name)
        self.protocol.requests[method.name] = (method, call)

    def bind_notification(self, method: Notification[P], call: NotificationCall[P]) -> None:
        """Call `call` on a notification, at once and before any later message is looked at.

        Those about documents (`lsp.DOCUMENT_NOTIFICATIONS`) have changed the workspace by then.
        """
        own = lsp.DOCUMENT_NOTIFICATIONS.get(method.name)
        if own is not None and own is not method.params:
            raise TypeError(f"{method.name} has the params {own.__name__}")
        _once(self.protocol.notifications, method.name)
        self.protocol.notifications[method.name] = (method, call)

    def bind_command(self, name: str, method: Request[P, R], call: RequestCall[P, R]) -> None:
        """Offer a request also as a command of `workspace/executeCommand`, with its params as the one argument."""
        _once(self.protocol.commands, name)
        self.protocol.commands[name] = (method, call)

    def experimental(self) -> dict[str, Any]:
        """What `initialize` answers under `capabilities.experimental.geminiCompanion`."""
        own = self._methods or [name for name in (*self.protocol.requests, *self.protocol.notifications) if name.startswith("gemini/")]
        return {"protocolVersion": self._protocol_version, "methods": sorted(own), "events": list(self._events)}

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log it; pygls would show it to the user."""
        log_defect(error, doing=getattr(source, "__name__", "pygls"))

    def feature(self, feature_name: str, options: Any | None = None) -> NoReturn:
        """Refuse: pygls' way to a decorated handler is where its traps are."""
        raise TypeError(f"bind {feature_name} with CompanionServer.bind")

    def command(self, command_name: str) -> NoReturn:
        """Refuse, like `feature`."""
        raise TypeError(f"bind {command_name} with CompanionServer.bind_command")


class _ConverterOnDemand:
    """lsprotocol's converter takes 12 ms to build and only pygls' typed requests to the client need it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_converter(), name)


@functools.cache
def _converter() -> Converter:
    return default_converter()


def _converter_on_demand() -> Converter:
    return cast("Converter", _ConverterOnDemand())


def _once(bound: Mapping[str, object], name: str) -> None:
    if name in bound:
        raise ValueError(f"{name} is bound already")


def _is_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _id_of(message: object) -> MessageId | None:
    """The id of a message, or the one that a cancel names; `None` if there is none or it is of the wrong type."""
    value = cast("dict[str, object]", message).get("id") if isinstance(message, dict) else None
    return value if _is_id(value) else None
