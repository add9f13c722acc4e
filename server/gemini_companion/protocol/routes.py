"""The requests, notifications and commands that one connection can send, and what answers each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import lsp
from gemini_companion.protocol.codec import decode, decode_params
from gemini_companion.protocol.errors import METHOD_NOT_FOUND, protocol_error
from gemini_companion.protocol.methods import Notification, Request

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")
RequestCall: TypeAlias = Callable[[P], Awaitable[R]]
NotificationCall: TypeAlias = Callable[[P], None]


@dataclass(frozen=True, slots=True)
class RoutedRequest:
    """A request whose params are decoded."""

    name: str
    """The method's, also for a command."""
    run: Callable[[], Awaitable[Any]]
    token: int | str | None
    """The client's `workDoneToken`."""
    notes_cancel: bool
    """See `methods.Request`."""


@dataclass(frozen=True, slots=True)
class RoutedNotification:
    """A notification whose params are decoded. `run` is absent if only the workspace is concerned."""

    params: msgspec.Struct
    run: Callable[[], None] | None


class Routes:
    """What is bound, by name."""

    def __init__(self) -> None:
        self.requests: dict[str, tuple[Request[Any, Any], RequestCall[Any, Any]]] = {}
        self.notifications: dict[str, tuple[Notification[Any], NotificationCall[Any]]] = {}
        self.commands: dict[str, tuple[Request[Any, Any], RequestCall[Any, Any]]] = {}

    def bind(self, method: Request[P, R], call: RequestCall[P, R]) -> None:
        """Answer a request with what `call` returns for the decoded params; what it raises is translated by
        `errors.to_wire`. Raises `ValueError` for a name that is bound.
        """
        _check_free(self.requests, method.name)
        self.requests[method.name] = (method, call)

    def bind_notification(self, method: Notification[P], call: NotificationCall[P]) -> None:
        """Call `call` on a notification, at once and before any later message is looked at.

        Those about documents (`lsp.DOCUMENT_NOTIFICATIONS`) have changed the workspace by then.
        """
        _check_free(self.notifications, method.name)
        self.notifications[method.name] = (method, call)

    def bind_command(self, name: str, method: Request[P, R], call: RequestCall[P, R]) -> None:
        """Offer a request also as a command of `workspace/executeCommand`, with its params as the one argument."""
        _check_free(self.commands, name)
        self.commands[name] = (method, call)

    def request(self, name: str, raw: object) -> RoutedRequest:
        """Find and decode a request. Raises `InvalidInput` for params that do not fit, `RpcError` for an unknown
        name.
        """
        if name == lsp.EXECUTE_COMMAND:
            return self._command(decode_params(lsp.ExecuteCommandParams, raw))
        if name not in self.requests:
            raise protocol_error(METHOD_NOT_FOUND, f"There is no method {name[:100]!r}.")
        method, call = self.requests[name]
        return _routed(method, call, decode_params(method.params, raw))

    def notification(self, name: str, raw: object) -> RoutedNotification | None:
        """Find and decode a notification; `None` if nothing is bound to the name. Raises `InvalidInput`; and
        `TypeError` for one about documents that is bound with other params than the workspace takes.
        """
        if name in self.notifications:
            method, call = self.notifications[name]
            own = lsp.DOCUMENT_NOTIFICATIONS.get(name, method.params)
            if own is not method.params:
                raise TypeError(f"{name} has the params {own.__name__}")
            params = decode_params(method.params, raw)
            return RoutedNotification(params, partial(call, params))
        if name in lsp.DOCUMENT_NOTIFICATIONS:
            return RoutedNotification(decode_params(lsp.DOCUMENT_NOTIFICATIONS[name], raw), None)
        return None

    def _command(self, sent: lsp.ExecuteCommandParams) -> RoutedRequest:
        if sent.command not in self.commands:
            raise InvalidInput(f"$.command: there is no command {sent.command[:100]!r}.", path="$.command")
        method, call = self.commands[sent.command]
        params = decode(method.params, _argument(sent), root="$.arguments[0]")
        return _routed(method, call, params, sent.work_done_token)


def _routed(
    method: Request[Any, Any], call: RequestCall[Any, Any], params: msgspec.Struct, token: int | str | None = None
) -> RoutedRequest:
    token = getattr(params, "work_done_token", token)
    return RoutedRequest(method.name, partial(call, params), token, method.notes_cancel)


def _argument(sent: lsp.ExecuteCommandParams) -> object:
    """The one object that a command takes, still undecoded, with the command's `workDoneToken` in it. Raises
    `InvalidInput`.

    From Lua an empty list comes as `{}` and an empty object as `[]`; an object that is not in a list is taken as well.
    """
    given = sent.arguments
    arguments = [given] if isinstance(given, dict) else given or [None]
    if len(arguments) > 1:
        raise InvalidInput("$.arguments: expected one object.", path="$.arguments")
    argument = {} if arguments[0] in (None, []) else arguments[0]
    if sent.work_done_token is None or not isinstance(argument, dict):
        return argument
    return {"workDoneToken": sent.work_done_token, **cast("dict[str, Any]", argument)}


def _check_free(bound: Mapping[str, object], name: str) -> None:
    if name in bound:
        raise ValueError(f"{name} is bound already")
