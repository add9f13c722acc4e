"""One client of the server, as the handlers see it: who it is, what it can do, and how to speak to it."""

# ruff: noqa: ASYNC109 (a bound is part of the question here: it also tells the client that nobody waits any more)

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, overload

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol.codec import decode

if TYPE_CHECKING:
    from gemini_companion.protocol.documents import Documents
    from gemini_companion.protocol.server import CompanionProtocol

R = TypeVar("R")

CLIENT_TIMEOUT: Final = 60.0
"""Seconds to wait for a client's answer when nobody said how long."""


class ClientFault(Exception):
    """The client answered a request with an error, with something else than was asked for, or went away."""

    def __init__(self, message: str, *, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class Connection:
    """A client, from `initialize` until it leaves. Equal only to itself, so it can be a key."""

    def __init__(self, protocol: CompanionProtocol) -> None:
        self._protocol = protocol
        self._last_request = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._progress: dict[int | str, Callable[[], None]] = {}
        self.name = "client"
        """What the client calls itself; for logs and messages."""
        self.capabilities: Mapping[str, Any] = {}
        """`InitializeParams.capabilities` as it was sent."""

    @property
    def documents(self) -> Documents:
        """The open documents and the workspace folders. Raises `RuntimeError` before `initialize`."""
        return self._protocol.documents

    @property
    def is_open(self) -> bool:
        """False once the client has left: what is sent then goes nowhere."""
        return not self._protocol.is_closed

    def supports(self, capability: str) -> bool:
        """Whether the client announced `capability`, as in `window.workDoneProgress`. An object counts as a yes."""
        value: object = self.capabilities
        for name in capability.split("."):
            value = cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
        return isinstance(value, dict) or value is True

    def send_notification(self, method: str, params: object = None) -> None:
        """Tell the client something. `params` is a Struct or builtins. Never waits; what was sent first arrives first."""
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._protocol.send(message)

    @overload
    async def send_request(self, method: str, params: object, result: type[R], *, timeout: float = ...) -> R: ...
    @overload
    async def send_request(self, method: str, params: object, result: None = None, *, timeout: float = ...) -> Any: ...
    async def send_request(self, method: str, params: object, result: type[R] | None = None, *, timeout: float = CLIENT_TIMEOUT) -> R | Any:
        """Ask the client something and wait at most `timeout` seconds; the answer is decoded as `result`, or left as builtins without one.

        Raises `TimeoutError`, or `ClientFault` if the client refused, answered something else than a `result`, or left. Whoever stops
        waiting, by the timeout or a cancel, also cancels the request on the client's side.
        """
        if not self.is_open:
            raise ClientFault("The client has left.")
        self._last_request += 1
        request_id = self._last_request
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        message: dict[str, object] = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        self._protocol.send(message)
        try:
            async with asyncio.timeout(timeout):
                raw = await answer
        except (TimeoutError, asyncio.CancelledError):
            self.send_notification("$/cancelRequest", {"id": request_id})
            raise
        finally:
            del self._waiting[request_id]
        if result is None:
            return raw
        try:
            return decode(result, raw)
        except InvalidInput as error:
            raise ClientFault(f"The client's answer to {method} is not understood: {error.message}") from error

    def on_progress_cancel(self, token: int | str, cancel: Callable[[], None] | None) -> None:
        """Call `cancel` when the person cancels the progress with this server-made token; `None` forgets it."""
        if cancel is None:
            self._progress.pop(token, None)
        else:
            self._progress[token] = cancel

    def receive_answer(self, request_id: int, message: Mapping[str, Any]) -> bool:
        """Take a response; false if nobody waits for it. For the protocol."""
        answer = self._waiting.get(request_id)
        if answer is None or answer.done():
            return False
        error = message.get("error")
        if error is None:
            answer.set_result(message.get("result"))
        else:
            answer.set_exception(_client_fault(error))
        return True

    def receive_progress_cancel(self, token: int | str) -> None:
        """The person cancelled a progress. For the protocol."""
        if cancel := self._progress.get(token):
            cancel()

    def abandon(self) -> None:
        """The client has left: nobody answers any more. For the protocol."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ClientFault("The client has left."))


def _client_fault(error: object) -> ClientFault:
    fields = cast("dict[str, object]", error) if isinstance(error, dict) else {}
    message, code = fields.get("message"), fields.get("code")
    return ClientFault(
        message if isinstance(message, str) and message else "The client refused.",
        code=code if isinstance(code, int) else None,
    )
