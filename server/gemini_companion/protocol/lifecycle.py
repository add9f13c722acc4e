"""What the application does at the turning points of a client's life."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.lsp import InitializeParams
from gemini_companion.protocol.routes import Routes


def _no_capabilities(_connection: Connection, _params: InitializeParams) -> Mapping[str, Any]:
    return {}


def _nothing(_connection: Connection) -> None:
    pass


def _nothing_to_load() -> Iterable[object]:
    return ()


def _nothing_to_bind(_connection: Connection, _routes: Routes) -> None:
    pass


async def _nothing_to_close(_connection: Connection) -> None:
    pass


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifecycle:
    """Called by the dispatcher; each has a default that does nothing."""

    on_initialize: Callable[[Connection, InitializeParams], Mapping[str, Any]] = _no_capabilities
    """Returns further server capabilities. Not async, for the client waits for nothing else; a fault refuses the
    client.
    """
    load: Callable[[], Iterable[object]] = _nothing_to_load
    """Begins, soon after `initialize` is answered, what makes `bind` quick, and takes a step with each element; the
    event loop has its turn in between, and messages wait. What a step raises ends the steps.
    """
    bind: Callable[[Connection, Routes], None] = _nothing_to_bind
    """Binds what is named in `initialize` only; called once, behind the steps, soon after that is answered, and before
    the next message is looked at.
    """
    on_initialized: Callable[[Connection], None] = _nothing
    """From now on the client may be sent requests and notifications."""
    on_close: Callable[[Connection], Awaitable[None]] = _nothing_to_close
    """The client has left and its requests have ended. Called once, also for one that never sent `initialize`."""
