"""Every method of the table and every command, bound to one connection's host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gemini_companion.protocol.commands import bind_commands
from gemini_companion.protocol.table import LSP_NOTIFICATIONS, LSP_REQUESTS, NOTIFICATIONS, REQUESTS

if TYPE_CHECKING:
    from gemini_companion.protocol.host import Host
    from gemini_companion.protocol.methods import Notification, Request
    from gemini_companion.protocol.routes import NotificationCall, RequestCall, Routes


def bind(routes: Routes, host: Host) -> None:
    """Attach the connection's client to the application and bind everything that it can send."""
    host.attach()
    for request in (*REQUESTS, *LSP_REQUESTS):
        routes.bind(request, _answering(request, host))
    for notification in (*NOTIFICATIONS, *LSP_NOTIFICATIONS):
        routes.bind_notification(notification, _taking(notification, host))
    bind_commands(routes, host)


def _answering(request: Request[Any, Any], host: Host) -> RequestCall[Any, Any]:
    """Calls the handler, which is not loaded for this."""
    return lambda params: request.handler(host, params)


def _taking(notification: Notification[Any], host: Host) -> NotificationCall[Any]:
    return lambda params: notification.handler(host, params)
