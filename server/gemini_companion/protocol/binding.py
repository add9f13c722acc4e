"""Every method of the table and every command, bound to one connection's host."""

from __future__ import annotations

from functools import partial

from gemini_companion.protocol.commands import bind_commands
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.routes import Routes
from gemini_companion.protocol.table import LSP_NOTIFICATIONS, LSP_REQUESTS, NOTIFICATIONS, REQUESTS


def bind(routes: Routes, host: Host) -> None:
    """Attach the connection's client to the application and bind everything that it can send."""
    host.attach()
    for request in (*REQUESTS, *LSP_REQUESTS):
        routes.bind(request, partial(request.handler, host))
    for notification in (*NOTIFICATIONS, *LSP_NOTIFICATIONS):
        routes.bind_notification(notification, partial(notification.handler, host))
    bind_commands(routes, host)
