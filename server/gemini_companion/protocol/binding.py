"""Every method of the table, every command and every document notice, bound to one connection's host."""

from __future__ import annotations

from functools import partial
from typing import Any

from gemini_companion.protocol.commands import bind_commands
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.handlers import editor
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Notification, Request
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.server import CompanionServer
from gemini_companion.protocol.table import LSP_NOTIFICATIONS, NOTIFICATIONS, REQUESTS
from gemini_companion.protocol.types import CodeActionParams, ConfigurationParams, SetTraceParams


def _ignore(host: Host, connection: Connection, params: SetTraceParams) -> None:
    """Nothing is traced."""


CODE_ACTION: Request[CodeActionParams, list[dict[str, Any]]] = Request(
    "textDocument/codeAction", CodeActionParams, list, editor.code_action, doc="Ask Gemini about a range."
)
DID_CHANGE_CONFIGURATION: Notification[Any] = Notification(
    "workspace/didChangeConfiguration", ConfigurationParams, editor.did_change_configuration, doc="The editor's settings changed."
)
SET_TRACE: Notification[Any] = Notification("$/setTrace", SetTraceParams, _ignore, doc="Nothing is traced.")


def bind(server: CompanionServer, host: Host, connection: Connection, options: InitializationOptions) -> None:
    """Attach the connection's client and bind everything that it can ask for."""
    client = host.attach(connection, options)
    client.editor.encoding = _encoding(connection)
    host.set_folders(connection)
    for request in (*REQUESTS, CODE_ACTION):
        server.bind(request, partial(request.handler, host))
    for notification in (*NOTIFICATIONS, *LSP_NOTIFICATIONS, DID_CHANGE_CONFIGURATION, SET_TRACE):
        server.bind_notification(notification, partial(notification.handler, host))
    bind_commands(server, host)


def _encoding(connection: Connection) -> Any:
    encoding = connection.documents.position_encoding
    return getattr(encoding, "value", encoding)
