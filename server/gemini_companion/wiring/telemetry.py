"""Turning telemetry on and off, as the settings say. What it needs is imported only where it is on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gemini_companion import __version__
from gemini_companion.settings.telemetry import TelemetryOptions

if TYPE_CHECKING:
    from gemini_companion.adapters.storage.recent import RecentFile
    from gemini_companion.adapters.telemetry.worker import Telemetry
    from gemini_companion.engine.redaction.finding import Finder
    from gemini_companion.sessions.observing.service import Observing


class TelemetrySwitch:
    """The telemetry of one process. `show` shows people a message, and may be called on any thread; `known` finds the
    vault's secrets.
    """

    def __init__(self, observing: Observing, show: Callable[[str], None], known: Finder) -> None:
        self._observing = observing
        self._show = show
        self._known = known
        self._options = TelemetryOptions()
        self._running: Telemetry | None = None
        self._told: set[str] = set()

    def apply(self, options: TelemetryOptions) -> None:
        """Send as these options say from here on; what is under way is sent where it was to go."""
        if options == self._options:
            return
        self._options = options
        if self._running is not None:
            self._observing.remove(self._running)
            self._running.close(0)
            self._running = None
        if options.problem:
            self._tell(options.problem)
        elif options.enabled:
            from gemini_companion.adapters.telemetry.worker import Telemetry

            self._running = Telemetry(options, version=__version__, tell=self._tell, known=self._known)
            self._running.start()
            self._observing.add(self._running)

    async def close(self) -> None:
        """Send what is left; that takes two seconds at most."""
        if self._running is not None:
            self._observing.remove(self._running)
            await asyncio.to_thread(self._running.close)
            self._running = None

    def _tell(self, message: str) -> None:
        """Show a message, once."""
        if message not in self._told:
            self._told.add(message)
            self._show(message)


def build_recent(env: Mapping[str, str], log_file: str | None) -> RecentFile:
    """The file of this daemon's last events, begun."""
    import platform

    from gemini_companion.adapters.storage.recent import RecentFile
    from gemini_companion.wiring.places import recent_directory

    about = {
        "version": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "logFile": log_file or "",
    }
    recent = RecentFile(recent_directory(env), about)
    recent.start()
    return recent
