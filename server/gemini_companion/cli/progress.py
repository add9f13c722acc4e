"""Progress of a compression on a terminal, as lines elsewhere."""

from __future__ import annotations

import sys
from typing import Final

from gemini_companion.sessions.events import CompactionProgress, Event
from gemini_companion.sessions.results import CompressionStatusReport

PHASES: Final = {
    "hook": "asking hooks",
    "truncating": "shortening tool outputs",
    "summarising": "summarising",
    "verifying": "checking the summary",
    "repairing": "asking again",
    "counting": "counting tokens",
    "installing": "installing",
}


class PhaseLine:
    """A client of the session that shows its phases on stderr; silent if `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._on_terminal = sys.stderr.isatty()
        self._shown = False

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Show a phase."""
        if isinstance(event, CompactionProgress):
            blocks = f" {event.block} of {event.blocks}" if event.block else ""
            self._show(f"{PHASES[event.phase]}{blocks} ({event.elapsed_ms / 1000:.1f} s)")

    def status(self, report: CompressionStatusReport) -> None:
        """Nothing to show."""

    def say(self, message: str) -> None:
        """A line of its own."""
        if not self._quiet:
            self.done()
            print(message, file=sys.stderr)

    def done(self) -> None:
        """Take the line away."""
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
