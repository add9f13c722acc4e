"""What the application does at the turning points of a client's life."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.lsp import InitializeParams
from gemini_companion.protocol.routes import Routes


def _no_capabilities(_connection: Connection, _params: InitializeParams) -> Mapping[str, Any]:
    return {}


def _nothing(_connection: Connection) -> None:
    pass


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
    bind: Callable[[Connection, Routes], None] = _nothing_to_bind
    """Binds what is named in `initialize` only; called once, soon after that is answered, and at
    the latest with the next message.
    """
    on_initialized: Callable[[Connection], None] = _nothing
    """From now on the client may be sent requests and notifications."""
    on_close: Callable[[Connection], Awaitable[None]] = _nothing_to_close
    """The client has left and its requests have ended. Called once, also for one that never sent `initialize`."""
