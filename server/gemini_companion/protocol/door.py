"""One client's server, with every method of the table bound to the application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import lsp
from gemini_companion.protocol.codec import decode
from gemini_companion.protocol.commands import bind_commands
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.handlers import editor
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Notification, Request
from gemini_companion.protocol.server import CompanionServer, Hooks
from gemini_companion.protocol.table import LSP_NOTIFICATIONS, NOTIFICATIONS, REQUESTS
from gemini_companion.protocol.types import CodeActionParams, ConfigurationParams, InitializationOptions, SetTraceParams
from gemini_companion.protocol.paths import path_of
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.events import EVENTS

CODE_ACTION = Request("textDocument/codeAction", CodeActionParams, list, editor.code_action, doc="Ask Gemini about a range.")
DID_CHANGE_CONFIGURATION = Notification(
    "workspace/didChangeConfiguration", ConfigurationParams, editor.did_change_configuration, doc="The editor's settings changed."
)
SET_TRACE = Notification("$/setTrace", SetTraceParams, lambda host, connection, params: None, doc="Nothing is traced.")


def create_server(
    *,
    version: str,
    protocol_version: str,
    application: Callable[[Connection, lsp.InitializeParams, Sequence[str]], Application],
    new_client_id: Callable[[], str],
    on_workspace: Callable[[], None],
    on_editor_settings: Callable[[dict[str, Any] | None], None],
    on_ready: Callable[[Connection], None],
    on_close: Callable[[Connection], Awaitable[None]],
) -> CompanionServer:
    """Bind every method of the table; nothing here outlives the call but the server itself."""
    host = Host(new_client_id=new_client_id, on_workspace=on_workspace, on_editor_settings=on_editor_settings)

    def initialize(connection: Connection, params: lsp.InitializeParams) -> Mapping[str, Any]:
        options = _options(params.initialization_options)
        folders = [path for folder in connection.documents.folders.values() if (path := path_of(folder.uri))]
        host.app = application(connection, params, folders)
        client = host.attach(connection, options)
        client.editor.encoding = _encoding(connection)
        host.set_folders(connection)
        return {"codeActionProvider": {"codeActionKinds": ["", "quickfix"]}}

    async def close(connection: Connection) -> None:
        host.detach(connection)
        await on_close(connection)

    hooks = Hooks(on_initialize=initialize, on_initialized=on_ready, on_close=close)
    events = [str(event.__struct_config__.tag) for event in EVENTS]
    server = CompanionServer(name="gemini-companion", version=version, hooks=hooks, protocol_version=protocol_version, events=events)
    for request in (*REQUESTS, CODE_ACTION):
        server.bind(request, partial(request.handler, host))
    for notification in (*NOTIFICATIONS, *LSP_NOTIFICATIONS, DID_CHANGE_CONFIGURATION, SET_TRACE):
        server.bind_notification(notification, partial(notification.handler, host))
    bind_commands(server, host)
    return server


def _options(raw: object) -> InitializationOptions:
    """The client's options; `null` and an empty list (an empty Lua table) count as none."""
    if raw in (None, []):
        return InitializationOptions()
    try:
        return decode(InitializationOptions, raw, root="$.initializationOptions")
    except InvalidInput as fault:
        raise InvalidInput(fault.message, path=fault.path, hint="Correct the editor's initializationOptions.") from None


def _encoding(connection: Connection) -> Any:
    encoding = connection.documents.position_encoding
    return getattr(encoding, "value", encoding)
