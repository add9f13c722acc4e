"""From a decoded message to its handler, for one client. Every request gets exactly one answer, whatever is sent.

No framework is imported here: bytes come from `transport`, the workspace from whoever makes the dispatcher.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol, TypeGuard, cast

from gemini_companion.engine.errors import InvalidInput, Overloaded
from gemini_companion.protocol import lsp
from gemini_companion.protocol.calls import Calls, MessageId, error_body
from gemini_companion.protocol.capabilities import ServerDescription, initialize_result
from gemini_companion.protocol.codec import MAX_DEPTH, decode_body, decode_params, encode_body, is_too_deep
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.errors import (
    INVALID_REQUEST,
    NOT_INITIALIZED,
    RpcError,
    log_defect,
    protocol_error,
    to_wire,
)
from gemini_companion.protocol.frames import frame
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.routes import Routes
from gemini_companion.protocol.workspace import Workspace

logger = logging.getLogger(__name__)

MAX_IN_FLIGHT: Final = 1024
"""Requests of one client that may be unanswered at once; more are refused as `overloaded`."""
BIND_AFTER: Final = 0.002
"""Seconds from the answer to `initialize` to `Lifecycle.load`, if nothing comes before: the answer goes out first."""
_AT_ONCE: Final = frozenset({"shutdown", "exit"})
"""What no client is to wait with: the methods are bound there and then."""
CLOSE_TIMEOUT: Final = 10.0
"""Seconds for `Lifecycle.on_close`."""


class Writer(Protocol):
    """Where the bytes of messages go."""

    def write(self, data: bytes, /) -> object:
        """Queue bytes. Never waits."""
        ...


def _no_answer_awaited(_call_id: MessageId, _message: Mapping[str, Any]) -> None:
    pass


class Dispatcher:
    """One client's messages: each is looked at once and routed or refused.

    `open_workspace` makes the workspace that `initialize` describes, or raises `InvalidInput`. `on_other_answer` gets
    the answers to requests that were not sent by the connection.
    """

    def __init__(
        self,
        server: ServerDescription,
        *,
        open_workspace: Callable[[lsp.InitializeParams], Workspace],
        lifecycle: Lifecycle | None = None,
        on_other_answer: Callable[[MessageId, Mapping[str, Any]], None] = _no_answer_awaited,
    ) -> None:
        self.routes = Routes()
        self.connection = Connection(self)
        self.calls = Calls(self._write)
        self.is_closed = False
        self.has_exited = False
        self._server = server
        self._lifecycle = lifecycle or Lifecycle()
        self._open_workspace = open_workspace
        self._on_other_answer = on_other_answer
        self._documents: Workspace | None = None
        self._steps: Iterator[object] | None = None
        self._held: list[dict[str, Any]] = []
        self._is_bound = False
        self._not_bound: Exception | None = None
        self._is_ready = False
        self._is_shut_down = False
        self._writer: Writer | None = None
        self._include_headers = True

    @property
    def documents(self) -> Workspace:
        """The client's workspace. Raises `RuntimeError` before `initialize`."""
        if self._documents is None:
            raise RuntimeError("There is no workspace before initialize.")
        return self._documents

    @property
    def exit_code(self) -> int:
        """1 for a client that sent `exit` without `shutdown`, as LSP has it; 0 for every other orderly end."""
        return 1 if self.has_exited and not self._is_shut_down else 0

    # ---- in

    def receive(self, body: bytes) -> None:
        """Take one message's body as it came from the client. Never raises."""
        try:
            message = decode_body(body)
        except RpcError as error:
            self._refuse(None, error)
            return
        if is_too_deep(body, message):
            self._refuse(
                _id_of(message),
                protocol_error(INVALID_REQUEST, f"The message is nested deeper than {MAX_DEPTH} levels."),
            )
        else:
            self.handle_message(message)

    def handle_message(self, message: object) -> None:
        """Take one decoded message. Never raises."""
        if not isinstance(message, dict):
            self._refuse(None, protocol_error(INVALID_REQUEST, "A message is one JSON object; LSP has no batches."))
            return
        fields = cast("dict[str, Any]", message)
        try:
            self._route(fields)
        except RpcError as error:
            self._refuse(_id_of(fields), error)
        except Exception as error:
            answer = to_wire(error, doing="a message")
            if "id" in fields and "method" in fields:
                self._refuse(_id_of(fields), answer)

    def refuse_frame(self, reason: str) -> None:
        """Answer to bytes that are no message. `reason` is a sentence for the client."""
        self._refuse(None, protocol_error(INVALID_REQUEST, reason))

    def _refuse(self, call_id: MessageId | None, error: RpcError) -> None:
        """Answer with an error; without an id for what could not be read so far."""
        self._write(error_body(call_id, error))

    def _route(self, message: dict[str, Any]) -> None:
        is_answer = "method" not in message and ("result" in message or "error" in message)
        if message.get("jsonrpc") != "2.0":
            if is_answer:
                return
            raise protocol_error(INVALID_REQUEST, 'The message has no "jsonrpc": "2.0".')
        if is_answer:
            self._on_answer(message)
            return
        method = message.get("method")
        if self._can_bind:
            if method in _AT_ONCE or len(self._held) >= MAX_IN_FLIGHT:
                self._bind()
            elif self._is_loading():
                self._held.append(message)
                return
        if not isinstance(method, str):
            raise protocol_error(INVALID_REQUEST, "The message has no method, or one that is no string.")
        if "id" not in message:
            self._on_notification(method, message.get("params"))
            return
        call_id = _id_of(message)
        if call_id is None:
            raise protocol_error(INVALID_REQUEST, "An id is a string or an integer.")
        self._on_request(call_id, method, message.get("params"))

    @property
    def _can_bind(self) -> bool:
        return not (self._is_bound or self._documents is None or self._is_shut_down or self.is_closed)

    def _is_loading(self) -> bool:
        """Whether a step was taken or the steps are begun now; then the methods are bound behind the last one."""
        if self._steps is None:
            self._load_on()
        return not self._is_bound

    def _load_on(self) -> None:
        """Take a step, or bind the methods behind the last; what is read meanwhile is looked at between two of them."""
        if not self._can_bind:
            return
        try:
            if self._steps is None:
                self._steps = iter(self._lifecycle.load())
            next(self._steps)
        except Exception:  # at the end, or what `bind` meets too
            self._bind()
        else:
            asyncio.get_running_loop().call_soon(self._load_on)

    def _load_first(self) -> None:
        if self._steps is None:
            self._load_on()

    def _bind(self) -> None:
        """Bind the methods, once, and take what waited for that. What goes wrong is the answer to every request that
        needs one of them.
        """
        self._is_bound = True
        try:
            self._lifecycle.bind(self.connection, self.routes)
        except Exception as error:
            log_defect(error, doing="loading the methods")
            self._not_bound = error
        held, self._held = self._held, []
        for message in held:
            self.handle_message(message)

    def _on_request(self, call_id: MessageId, method: str, raw: object) -> None:
        if call_id in self.calls:
            raise protocol_error(INVALID_REQUEST, "A request with this id is in flight; its answer follows.")
        if self._is_shut_down:
            raise protocol_error(INVALID_REQUEST, "The server is shutting down.")
        if method == "initialize":
            self.send({"jsonrpc": "2.0", "id": call_id, "result": self._initialize(raw)})
            asyncio.get_running_loop().call_later(BIND_AFTER, self._load_first)
        elif self._documents is None:
            raise protocol_error(NOT_INITIALIZED, "The first request must be initialize.")
        elif method == "shutdown":
            self._is_shut_down = True
            self.connection.is_leaving = True
            self.calls.start(call_id, method, functools.partial(self.calls.cancel_all, but=call_id))
        elif len(self.calls) >= MAX_IN_FLIGHT:
            fault = Overloaded("Too many requests wait for an answer.", hint="Wait for some of them, then try again.")
            raise to_wire(fault)
        elif self._not_bound is not None:
            raise self._not_bound.with_traceback(None)  # it would grow with every request
        else:
            try:
                request = self.routes.request(method, raw)
            except InvalidInput as error:
                raise to_wire(error) from None
            self.calls.start(call_id, request.name, request.run, token=request.token, notes_cancel=request.notes_cancel)

    def _initialize(self, raw: object) -> dict[str, Any]:
        if self._documents is not None:
            raise protocol_error(INVALID_REQUEST, "The server is initialized already.")
        try:
            params = decode_params(lsp.InitializeParams, raw)
            self._documents = documents = self._open_workspace(params)
            self.connection.capabilities = params.capabilities
            if params.client_info is not None:
                self.connection.name = params.client_info.name[:100]
            more = self._lifecycle.on_initialize(self.connection, params)
            return initialize_result(
                self._server,
                encoding=documents.encoding,
                methods=(*self.routes.requests, *self.routes.notifications),
                commands=self.routes.commands,
                more=more,
            )
        except Exception as error:
            self._documents = None
            raise to_wire(error, doing="initialize") from None

    def _on_notification(self, method: str, raw: object) -> None:
        if method == "exit":
            self.has_exited = True
        elif method == "$/cancelRequest":
            call_id = _id_of(raw)
            if call_id is not None:
                self.calls.cancel(call_id)
        elif self._documents is None or self._is_shut_down:
            logger.debug("Ignored outside of a session: %.100r", method)
        elif method == "initialized":
            if not self._is_ready:
                self._is_ready = True
                self._guarded(method, functools.partial(self._lifecycle.on_initialized, self.connection))
        elif method == "window/workDoneProgress/cancel":
            token = cast("dict[str, object]", raw).get("token") if isinstance(raw, dict) else None
            if _is_id(token):
                self.calls.cancel_progress(token)
        else:
            self._guarded(method, functools.partial(self._apply_notification, method, raw))

    def _apply_notification(self, method: str, raw: object) -> None:
        notification = self.routes.notification(method, raw)
        if notification is None:
            if not method.startswith("$/"):
                logger.debug("Ignored, for nothing is bound to it: %.100r", method)
            return
        if method in lsp.DOCUMENT_NOTIFICATIONS:
            self.documents.apply(method, notification.params)
        if notification.run is not None:
            notification.run()

    def _guarded(self, method: str, act: Callable[[], object]) -> None:
        """Do what a notification asks; nobody waits for an answer, so what goes wrong goes to the log, without a word
        of the message.
        """
        try:
            act()
        except InvalidInput as error:
            logger.warning("Ignored %.100r: %s is not understood", method, error.path)
        except Exception as error:
            log_defect(error, doing=method)

    def _on_answer(self, message: Mapping[str, Any]) -> None:
        call_id = _id_of(message)
        if isinstance(call_id, int) and self.connection.receive_answer(call_id, message):
            return
        if call_id is not None:
            self._on_other_answer(call_id, message)

    # ---- out

    def set_writer(self, writer: Writer, *, include_headers: bool = True) -> None:
        """Send what is sent from now on there, each message with its header or, for tests, without."""
        self._writer = writer
        self._include_headers = include_headers

    def send(self, message: object) -> None:
        """Queue one message: a mapping whose values may be Structs."""
        self._write(encode_body(message))

    def _write(self, body: bytes) -> None:
        if self._writer is not None:
            self._writer.write(frame(body) if self._include_headers else body)

    async def close(self) -> None:
        """The client has left: end its requests, then call `Lifecycle.on_close`. For whoever carries the bytes."""
        if self.is_closed:
            return
        if self._held and self._can_bind:
            self._bind()
        self.is_closed = True
        self.connection.abandon()
        self.connection.is_leaving = True
        await self.calls.close()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await self._lifecycle.on_close(self.connection)
        except TimeoutError:
            logger.exception("Closing took longer than %d seconds", CLOSE_TIMEOUT)
        except Exception as error:
            log_defect(error, doing="closing")


def _is_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _id_of(message: object) -> MessageId | None:
    """The id of a message, or the one that a cancel names; `None` if there is none or it is of the wrong type."""
    value = cast("dict[str, object]", message).get("id") if isinstance(message, dict) else None
    return value if _is_id(value) else None
