"""One client of the server, as the handlers see it: its name, its capabilities, and the way to send it something."""

# ruff: noqa: ASYNC109 (the bound is part of the request here: at its end the client is sent a cancel)

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeVar, cast, overload

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol.codec import decode
from gemini_companion.protocol.workspace import Workspace

R = TypeVar("R")

CLIENT_TIMEOUT: Final = 60.0
"""Seconds to wait for a client's answer when the caller names no bound."""


class ClientFault(Exception):
    """The client answered a request with an error, with something else than was asked for, or went away."""

    def __init__(self, message: str, *, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class Wire(Protocol):
    """What a connection needs of whatever carries its messages."""

    def send(self, message: object) -> None:
        """Queue one message: a mapping whose values may be Structs. Never waits."""
        ...

    @property
    def is_closed(self) -> bool:
        """True once the client has left."""
        ...

    @property
    def documents(self) -> Workspace:
        """The client's workspace. Raises `RuntimeError` before `initialize`."""
        ...


class Connection:
    """A client, from `initialize` until it leaves. Equal only to itself, so it can be a key."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.is_leaving = False
        """The client has said goodbye, or its stream has ended: what is cancelled now, nobody cancelled."""
        self._last_request = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self.name = "client"
        """What the client calls itself; for logs and messages."""
        self.capabilities: Mapping[str, Any] = {}
        """`InitializeParams.capabilities` as it was sent."""

    @property
    def documents(self) -> Workspace:
        """The open documents and the workspace folders. Raises `RuntimeError` before `initialize`."""
        return self._wire.documents

    @property
    def is_open(self) -> bool:
        """False once the client has left: what is sent then goes nowhere."""
        return not self._wire.is_closed

    def supports(self, capability: str) -> bool:
        """Whether the client announced `capability`, as in `window.workDoneProgress`. An object counts as a yes."""
        value: object = self.capabilities
        for name in capability.split("."):
            value = cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
        return isinstance(value, dict) or value is True

    def send_notification(self, method: str, params: object = None) -> None:
        """Send a notification. `params` is a Struct or builtins. Never waits; what was sent first arrives first."""
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._wire.send(message)

    @overload
    async def send_request(self, method: str, params: object, result: type[R], *, timeout: float = ...) -> R: ...
    @overload
    async def send_request(self, method: str, params: object, result: None = None, *, timeout: float = ...) -> Any: ...
    async def send_request(
        self, method: str, params: object, result: type[R] | None = None, *, timeout: float = CLIENT_TIMEOUT
    ) -> R | Any:
        """Send a request and wait at most `timeout` seconds; the answer is decoded as `result`, or left as builtins
        without one.

        Raises `TimeoutError`, or `ClientFault` if the client refused, answered something else than a `result`, or left.
        When the wait ends by the timeout or a cancel, the request is cancelled on the client's side as well.
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
        self._wire.send(message)
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

    def receive_answer(self, request_id: int, message: Mapping[str, Any]) -> bool:
        """Take a response; false if nobody waits for it. For the dispatcher."""
        answer = self._waiting.get(request_id)
        if answer is None or answer.done():
            return False
        error = message.get("error")
        if error is None:
            answer.set_result(message.get("result"))
        else:
            answer.set_exception(_client_fault(error))
        return True

    def abandon(self) -> None:
        """The client has left: nobody answers any more. For the dispatcher."""
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
