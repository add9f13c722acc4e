"""What a method is: the types of the method table, which dispatch, the schemas, the TypeScript types and the docs all
read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar, get_type_hints

import msgspec

from gemini_companion.engine.errors import CompanionError

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")

RequestHandler: TypeAlias = Callable[[Any, P], Awaitable[R]]
"""Called with the host of the connection that asks (`protocol.host.Host`) and the decoded params."""

NotificationHandler: TypeAlias = Callable[[Any, P], None]
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


def request(
    name: str,
    handler: RequestHandler[P, R],
    *,
    doc: str,
    errors: tuple[type[CompanionError], ...] = (),
) -> Request[P, R]:
    """A request whose types are those of its handler, which annotates `params` and what it returns."""
    hints = get_type_hints(handler)
    result = None if hints["return"] is type(None) else hints["return"]
    return Request(name, hints["params"], result, handler, doc=doc, errors=errors)


def notification(name: str, handler: NotificationHandler[P], *, doc: str) -> Notification[P]:
    """A notification whose type is that of its handler, which annotates `params`."""
    return Notification(name, get_type_hints(handler)["params"], handler, doc=doc)


Method: TypeAlias = Request[Any, Any] | Notification[Any] | ServerNotification[Any] | ServerRequest[Any, Any]
