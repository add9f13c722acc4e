"""What happens in sessions, on its way to one client."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import msgspec

from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.progress import WorkDone, client_progress
from gemini_companion.protocol.types import EventParams, SessionIdParams
from gemini_companion.sessions.compression_events import PHASE_TEXTS, CompressionProgress
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.results import CompressionStatusReport

EVENT: Final = "gemini/event"
STATUS_CHANGED: Final = "gemini/compressionStatus/didChange"
TAKEN: Final = "gemini/session/taken"


_REMEMBERED: Final = 32
"""Sessions whose last report is remembered."""


class ConnectionSink:
    """Sends events and reports to one client; a report that differs from the last in the elapsed time alone is not
    sent.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last: dict[str, CompressionStatusReport] = {}
        self._bars: list[WorkDone] = []

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Send `gemini/event`."""
        self._connection.send_notification(
            EVENT, EventParams(session_id=session_id, seq=seq, time=time, turn_id=turn_id, event=event)
        )
        if isinstance(event, CompressionProgress):
            for bar in self._bars:
                bar.report(PHASE_TEXTS[event.phase] + (f" {event.block} of {event.blocks}" if event.block else ""))

    def status(self, report: CompressionStatusReport) -> None:
        """Send `gemini/compressionStatus/didChange`, if more than the elapsed time changed."""
        comparable = msgspec.structs.replace(report, elapsed_ms=msgspec.UNSET)
        if self._last.pop(report.session_id, None) != comparable:
            while len(self._last) >= _REMEMBERED:
                del self._last[next(iter(self._last))]
            self._connection.send_notification(STATUS_CHANGED, report)
        self._last[report.session_id] = comparable

    def taken(self, session_id: str) -> None:
        """Send `gemini/session/taken`."""
        self._connection.send_notification(TAKEN, SessionIdParams(session_id=session_id))

    @contextmanager
    def compression_progress(self, token: int | str | None, title: str) -> Generator[None]:
        """Show the phases of compressions in the progress bar of a request's `workDoneToken` while the block runs."""
        with client_progress(self._connection, token, title) as bar:
            self._bars.append(bar)
            try:
                yield
            finally:
                self._bars.remove(bar)
