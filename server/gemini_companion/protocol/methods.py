"""What a method is: the types of the method table, which dispatch, the schemas, the TypeScript types and the docs all
read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar, get_type_hints

import msgspec

from gemini_companion.engine.errors import CompanionError
from gemini_companion.protocol.errors import DEFECT, log_defect, protocol_error

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")

RequestHandler: TypeAlias = Callable[[Any, P], Awaitable[R]]
"""Called with the host of the connection that asks (`protocol.host.Host`) and the decoded params."""

NotificationHandler: TypeAlias = Callable[[Any, P], None]
"""The same for a notification. Not async: it has taken effect before the next message is looked at."""


class Empty(msgspec.Struct, frozen=True, kw_only=True):
    """No fields: the params of a method that needs none."""


@dataclass(frozen=True)
class Request(Generic[P, R]):
    """A request from the client. `result` is `None` where the answer is always `null`; `doc` is for people."""

    name: str
    params: type[P]
    result: type[R] | None
    handler: RequestHandler[P, R]
    doc: str = field(kw_only=True)
    errors: tuple[type[CompanionError], ...] = field(default=(), kw_only=True)
    """The faults that are to be expected, beyond invalid params and a cancel."""
    notes_cancel: bool = field(default=False, kw_only=True)
    """Its handler is begun though it was cancelled at once, to note what was asked."""


@dataclass(frozen=True)
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


class _Late:
    """A row whose handler, and with it its types, is found when one of them is first needed."""

    def __init__(self, find: Callable[[], Callable[..., Any]], **known: Any) -> None:
        self.__dict__ |= {"_find": find, **known}  # the row is frozen

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet. Raises `RpcError` if the handler's module cannot be loaded."""
        if name not in ("params", "result", "handler"):
            raise AttributeError(name)
        known = self.__dict__
        try:
            handler = known["_find"]()
            hints = get_type_hints(handler)
        except Exception as error:  # whatever a broken installation makes of an import
            log_defect(error, doing=f"loading {known['name']}")
            raise protocol_error(
                DEFECT,
                f"What answers {known['name']} could not be loaded.",
                hint="Install Gemini Companion again. The server's log (its standard error, or --log-file) says more.",
            ) from error
        result = None if hints["return"] is type(None) else hints["return"]
        known |= {"params": hints["params"], "result": result, "handler": handler}
        return known[name]


class _LateRequest(_Late, Request[P, R]):
    pass


class _LateNotification(_Late, Notification[P]):
    pass


def request(
    name: str,
    find: Callable[[], RequestHandler[P, R]],
    *,
    doc: str,
    errors: tuple[type[CompanionError], ...] = (),
    notes_cancel: bool = False,
) -> Request[P, R]:
    """A request whose handler `find` loads, once it is needed; its types are those that the handler annotates for
    `params` and for what it returns. Then `RpcError` is raised if that fails.
    """
    return _LateRequest(find, name=name, doc=doc, errors=errors, notes_cancel=notes_cancel)


def notification(name: str, find: Callable[[], NotificationHandler[P]], *, doc: str) -> Notification[P]:
    """A notification of the same kind; its handler annotates `params`."""
    return _LateNotification(find, name=name, doc=doc)


Method: TypeAlias = Request[Any, Any] | Notification[Any] | ServerNotification[Any] | ServerRequest[Any, Any]
