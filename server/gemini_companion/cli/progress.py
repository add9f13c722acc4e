"""Progress of a compression: one changing line on a terminal, a line per phase elsewhere."""

from __future__ import annotations

import sys

from gemini_companion.sessions.compression_events import PHASE_TEXTS, CompressionProgress
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.results import CompressionStatusReport


class PhaseLine:
    """A `ClientSink` that shows a compression's phases on stderr; silent if `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._on_terminal = sys.stderr.isatty()
        self._shown = False

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Show the phase, if the event has one."""
        if isinstance(event, CompressionProgress):
            blocks = f" {event.block} of {event.blocks}" if event.block else ""
            self._show(f"{PHASE_TEXTS[event.phase]}{blocks} ({event.elapsed_ms / 1000:.1f} s)")

    def status(self, report: CompressionStatusReport) -> None:
        """Do nothing: the phases are enough."""

    def taken(self, session_id: str) -> None:
        """Do nothing: what is asked for next says so."""

    def say(self, message: str) -> None:
        """Print a message on a line of its own."""
        if not self._quiet:
            self.done()
            print(message, file=sys.stderr)

    def done(self) -> None:
        """Remove the line of the current phase."""
        if self._shown:
            self._shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _show(self, text: str) -> None:
        if self._quiet:
            return
        if self._on_terminal:
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        else:
            print(text, file=sys.stderr)
