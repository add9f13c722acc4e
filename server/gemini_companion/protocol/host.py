"""The application as one connection's handlers see it: with the client that the connection is."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.paths import path_of
from gemini_companion.protocol.progress import WorkDone
from gemini_companion.protocol.types import EventParams
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.events import CompactionProgress, Event, Phase
from gemini_companion.sessions.results import CompressionStatusReport

EVENT = "gemini/event"
STATUS_CHANGED = "gemini/compressionStatus/didChange"

_PHASES: Mapping[Phase, str] = {
    "hook": "Asking hooks",
    "truncating": "Shortening tool outputs",
    "summarising": "Summarising",
    "verifying": "Checking the summary",
    "repairing": "Asking again",
    "counting": "Counting tokens",
    "installing": "Installing",
}


class ConnectionSink:
    """Sends what happens to one client; repeated reports that say the same are sent once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last: dict[str, CompressionStatusReport] = {}
        self.bars: list[WorkDone] = []
        """Progress bars of compressions that this client asked for."""

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Send `gemini/event`."""
        self._connection.send_notification(EVENT, EventParams(session_id=session_id, seq=seq, time=time, turn_id=turn_id, event=event))
        if isinstance(event, CompactionProgress):
            for bar in self.bars:
                bar.report(_PHASES[event.phase] + (f" {event.block} of {event.blocks}" if event.block else ""))

    def status(self, report: CompressionStatusReport) -> None:
        """Send `gemini/compressionStatus/didChange`, if more than the elapsed time changed."""
        comparable = msgspec.structs.replace(report, elapsed_ms=msgspec.UNSET)
        if self._last.get(report.session_id) != comparable:
            self._last[report.session_id] = comparable
            self._connection.send_notification(STATUS_CHANGED, report)


class Host:
    """What handlers are given: the application and the client behind each connection."""

    def __init__(
        self,
        app: Application,
        *,
        new_client_id: Callable[[], str],
        on_workspace: Callable[[], None],
        on_editor_settings: Callable[[dict[str, Any] | None], None],
    ) -> None:
        self.app = app
        self._new_client_id = new_client_id
        self._on_workspace = on_workspace
        self._on_editor_settings = on_editor_settings
        self._clients: dict[Connection, Client] = {}

    def attach(self, connection: Connection, options: InitializationOptions) -> Client:
        """A connection said who it is."""
        client = Client(
            self._new_client_id(),
            ConnectionSink(connection),
            name=options.client_name or connection.name,
            opt_out=frozenset(options.opt_out_events),
            trusted=options.trusted,
        )
        self._clients[connection] = client
        self.app.attach(client)
        return client

    def client(self, connection: Connection) -> Client:
        """The client of a connection. Raises `KeyError` before `initialize`."""
        return self._clients[connection]

    def set_folders(self, connection: Connection) -> None:
        """Take the workspace folders that the connection has now."""
        self._clients[connection].folders = folders_of(connection)
        self._on_workspace()

    def set_trust(self, connection: Connection, trusted: bool) -> None:
        """The editor said whether its workspace is trusted."""
        client = self._clients[connection]
        if client.trusted != trusted:
            client.trusted = trusted
            self._on_workspace()
            self.app.tell_trust(client)

    def set_editor_settings(self, section: dict[str, Any] | None) -> None:
        """Take the editor's section of settings."""
        self._on_editor_settings(section)

    @contextmanager
    def reporting(self, client: Client, bar: WorkDone) -> Generator[None]:
        """Show the phases of a compression in a progress bar while the block runs."""
        sink = client.sink
        if isinstance(sink, ConnectionSink):
            sink.bars.append(bar)
        try:
            yield
        finally:
            if isinstance(sink, ConnectionSink):
                sink.bars.remove(bar)

    def detach(self, connection: Connection) -> None:
        """A connection ended."""
        client = self._clients.pop(connection, None)
        if client is not None:
            self.app.detach(client)


def folders_of(connection: Connection) -> tuple[str, ...]:
    """The absolute paths of a connection's workspace folders; one of another system (`file:///C:/x` here) is none of ours."""
    paths = (path_of(folder.uri) for folder in connection.documents.folders.values())
    return tuple(path for path in paths if path and os.path.isabs(path))
