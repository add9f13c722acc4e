"""What happens in sessions, on its way to one client."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, NamedTuple, TypeAlias

import msgspec

from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.progress import WorkDone, client_progress
from gemini_companion.protocol.types import EventParams, SessionIdParams
from gemini_companion.sessions.compression_events import (
    PHASE_TEXTS,
    CompressionCancelled,
    CompressionCompleted,
    CompressionFailed,
    CompressionProgress,
)
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.results import CompressionStatusReport

EVENT: Final = "gemini/event"
STATUS_CHANGED: Final = "gemini/compressionStatus/didChange"
TAKEN: Final = "gemini/session/taken"


_REMEMBERED: Final = 32
"""Sessions whose last report is remembered."""


_Ended: TypeAlias = CompressionCompleted | CompressionFailed | CompressionCancelled


class _Bar(NamedTuple):
    """A progress bar that shows the phases of one session's compressions."""

    work: WorkDone
    session_id: Callable[[], str | None]
    afterwards: str
    """What goes on behind a compression; `""` for nothing."""


class ConnectionSink:
    """Sends events and reports to one client; a report that differs from the last in the elapsed time alone is not
    sent.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last: dict[str, CompressionStatusReport] = {}
        self._bars: list[_Bar] = []

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Send `gemini/event`."""
        self._connection.send_notification(
            EVENT, EventParams(session_id=session_id, seq=seq, time=time, turn_id=turn_id, event=event)
        )
        if isinstance(event, CompressionProgress | _Ended):  # nothing is asked of the bars for each delta
            for bar in self._bars:
                if bar.session_id() == session_id and (message := _message(event, bar.afterwards)):
                    bar.work.report(message)

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
    def compression_progress(
        self, token: int | str | None, title: str, session_id: Callable[[], str | None], *, afterwards: str = ""
    ) -> Generator[None]:
        """Show the phases of a session's compressions in the progress bar of a request's `workDoneToken` while the
        block runs, and after one of them what goes on then.
        """
        with client_progress(self._connection, token, title) as work:
            bar = _Bar(work, session_id, afterwards)
            self._bars.append(bar)
            try:
                yield
            finally:
                self._bars.remove(bar)


def _message(event: CompressionProgress | _Ended, afterwards: str) -> str:
    if isinstance(event, CompressionProgress):
        return PHASE_TEXTS[event.phase] + (f" {event.block} of {event.blocks}" if event.block else "")
    return afterwards
