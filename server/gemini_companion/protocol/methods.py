"""What a method is: the types of the method table, which dispatch, the schemas, the TypeScript types and the docs all read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from gemini_companion.engine.errors import CompanionError

if TYPE_CHECKING:
    from gemini_companion.protocol.connection import Connection

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")

Scope: TypeAlias = Literal["unordered", "ordered"]
"""`unordered` requests run side by side. What a connection asks after an `ordered` one starts when that one has ended, as for the methods
that change which session is the client's current one."""

RequestHandler: TypeAlias = "Callable[[Any, Connection, P], Awaitable[R]]"
"""Called with the application, the connection that asks, and the decoded params."""

NotificationHandler: TypeAlias = "Callable[[Any, Connection, P], None]"
"""The same for a notification. Not async: it has taken effect before the next message is looked at."""


class Empty(msgspec.Struct, frozen=True, kw_only=True):
    """No fields: the params of a method that needs none."""


@dataclass(frozen=True, slots=True)
class Request(Generic[P, R]):
    """A request from the client. `result` is `None` where the answer is always `null`; `doc` is for people."""

    name: str
    params: type[P]
    result: type[R] | None
    handler: RequestHandler[P, R]
    doc: str = field(kw_only=True)
    errors: tuple[type[CompanionError], ...] = field(default=(), kw_only=True)
    """The faults that are to be expected, beyond invalid params and a cancel."""
    scope: Scope = field(default="unordered", kw_only=True)


@dataclass(frozen=True, slots=True)
class Notification(Generic[P]):
    """A notification from the client."""

    name: str
    params: type[P]
    handler: NotificationHandler[P]
    doc: str = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class ServerNotification(Generic[P]):
    """A notification that the server sends."""

    name: str
    params: type[P]
    doc: str = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class ServerRequest(Generic[P, R]):
    """A request that the server sends; `result` is what the client answers."""

    name: str
    params: type[P]
    result: type[R] | None
    doc: str = field(kw_only=True)


Method: TypeAlias = Request[Any, Any] | Notification[Any] | ServerNotification[Any] | ServerRequest[Any, Any]
