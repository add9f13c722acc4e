"""The application as the handlers of one connection see it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import msgspec

from gemini_companion.protocol.asking import ConnectionAsker
from gemini_companion.protocol.connection import ClientFault, Connection
from gemini_companion.protocol.messages import WARNING, show_message
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.paths import path_of
from gemini_companion.protocol.sink import ConnectionSink
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.session import Session
from gemini_companion.settings.service import SettingsService

_SHOW_SECONDS: Final = 20.0
_GO_ON_SECONDS: Final = 3_600.0


class _Shown(msgspec.Struct, frozen=True):
    """LSP's `ShowDocumentResult`."""

    success: bool


class Host:
    """What handlers are given: the application, the connection that asks, and its client.

    `settings` gets the editor's section of settings; `on_workspace` is called when the client's folders or its trust
    changed.
    """

    def __init__(
        self,
        app: Application,
        connection: Connection,
        options: InitializationOptions,
        *,
        client_id: str,
        on_workspace: Callable[[], None],
        settings: SettingsService,
    ) -> None:
        self.app = app
        self.connection = connection
        self.sink = ConnectionSink(connection)
        self.client = Client(
            client_id,
            self.sink,
            name=options.client_name or connection.name,
            opt_out=frozenset(options.opt_out_events),
            trusted=options.trusted,
        )
        self.client.asker = ConnectionAsker(connection, options.supports, self.client.editor.uri)
        self.client.is_leaving = lambda: connection.is_leaving
        self.settings = settings
        self._on_workspace = on_workspace

    def attach(self) -> None:
        """The client begins to use the application."""
        self.client.editor.encoding = self.connection.documents.encoding
        self.app.attach(self.client)
        self.update_folders()

    def detach(self) -> None:
        """The client has left."""
        self.app.detach(self.client)

    def update_folders(self) -> None:
        """Take the workspace folders that the connection has now."""
        self.client.folders = folders_of(self.connection)
        self._on_workspace()

    def set_trust(self, trusted: bool) -> None:
        """The editor reported whether its workspace is trusted."""
        if self.client.trusted != trusted:
            self.client.trusted = trusted
            self._on_workspace()
            self.app.notify_trust(self.client)

    async def show_address(self, address: str) -> bool:
        """Have the editor open a web address in the person's browser; whether it said that it did."""
        params = {"uri": address, "external": True, "takeFocus": True}
        try:
            shown = await self.connection.send_request("window/showDocument", params, _Shown, timeout=_SHOW_SECONDS)
        except (ClientFault, TimeoutError):
            return False
        return shown.success

    async def goes_on_without(self, fault: str) -> bool:
        """Whether the person says that it goes on without a settings file that cannot be read.

        Where the editor cannot ask, it is told what is wrong.
        """
        action = "Go On Without It"
        params = {
            "type": WARNING,
            "message": f"{fault.rstrip('.')}. Go on without this file, whatever it forbids, until it is mended?",
            "actions": [{"title": "Wait Until It Is Mended"}, {"title": action}],
        }
        try:
            chosen = await self.connection.send_request("window/showMessageRequest", params, timeout=_GO_ON_SECONDS)
        except ClientFault:
            show_message(self.connection, WARNING, fault)
            return False
        except TimeoutError:
            return False
        return bool(chosen == {"title": action})

    def session_meant(self, session_id: str | None) -> Callable[[], str | None]:
        """Tells, at any time, the session that a request means: the named one, else the client's current one now, or
        the one that is made for it.
        """
        meant = session_id or self.client.current
        return lambda: meant or self.client.current

    async def load(self, session_id: str | None) -> Session:
        """The named session, or the client's current one, to be read. Raises `SessionNotFound`."""
        return await self.app.load(self.client, session_id)

    async def hold(self, session_id: str | None) -> Session:
        """The same, to be written, and made if the client has none. Raises `SessionNotFound`, `SessionBusy`."""
        return await self.app.hold(self.client, session_id)


def folders_of(connection: Connection) -> tuple[str, ...]:
    """The absolute paths of a connection's workspace folders; one of another system (`file:///C:/x` here), or that can
    be no path, is none of ours.
    """
    paths = (path_of(folder.uri) for folder in connection.documents.folders.values())
    return tuple(path for path in paths if path and os.path.isabs(path) and "\0" not in path)
