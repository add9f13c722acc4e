"""`Telemetry`: takes records on the event loop; a thread of its own does everything else.

Neither a collector nor the SDK is waited for by anybody: the thread is a daemon, the queue is bounded, and at the end
of the process it has two seconds.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gemini_companion.sessions.observing.records import AnyRecord, without_texts
from gemini_companion.settings.telemetry import TelemetryOptions

if TYPE_CHECKING:
    from gemini_companion.adapters.telemetry.pipeline import Pipeline
    from gemini_companion.engine.redaction.finding import Finder

logger = logging.getLogger(__name__)

END_SECONDS: Final = 2.0
"""How long the last batch may take."""

EVERY_SECONDS: Final = 2.0
"""How often spans and logs are sent."""

METRICS_SECONDS: Final = 10.0
"""How often metrics are sent."""

SLOWEST_SECONDS: Final = 60.0
"""The longest pause between tries while a collector takes nothing."""

MOST_QUEUED: Final = 2_048
"""Records that wait for the thread; further ones are counted and left out."""

MOST_CHARACTERS: Final = 4_000_000
"""Characters of the texts among them; beyond, records go without theirs."""

_WAKE_AT: Final = 512
"""Records from which on the thread does not wait for its time."""


class Telemetry:
    """An `Observer` that sends what it gets. `tell` shows people a message, and is called in the thread; `known` finds
    secrets beside those that patterns find.
    """

    def __init__(
        self,
        options: TelemetryOptions,
        *,
        version: str,
        tell: Callable[[str], None],
        every_seconds: float = EVERY_SECONDS,
        make: Callable[[], Pipeline] | None = None,
        known: Finder | None = None,
    ) -> None:
        self.wants_text = options.log_prompts
        self._options = options
        self._version = version
        self._tell = tell
        self._known = known
        self._every = every_seconds
        self._make = make or self._pipeline
        self._lock = threading.Lock()
        self._queue: list[AnyRecord] = []
        self._characters = 0
        self._dropped = 0
        self._gave_up = False
        self._has_noted = False
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def take(self, record: AnyRecord) -> None:
        """Queue a record. Returns at once."""
        with self._lock:
            if self._gave_up or len(self._queue) >= MOST_QUEUED:
                self._dropped += 1
                return
            length = sum(map(len, record.texts.values()))
            if self._characters + length > MOST_CHARACTERS:
                record, length = without_texts(record), 0
            self._characters += length
            self._queue.append(record)
            queued = len(self._queue)
        if queued == _WAKE_AT:
            self._wake.set()

    def close(self, seconds: float = END_SECONDS) -> bool:
        """Send what is left, for at most so many seconds; whether it ended. Blocks the calling thread."""
        self._closing.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(seconds)
        return not self._thread.is_alive()

    # --- in the thread

    def _pipeline(self) -> Pipeline:
        from gemini_companion.adapters.telemetry.pipeline import Pipeline
        from gemini_companion.adapters.vault.masking import Masking

        return Pipeline(self._options, self._version, masking=Masking(self._known))

    def _run(self) -> None:
        try:
            pipeline = self._make()
        except ImportError:
            return self._give_up(
                "Telemetry is off: its packages are missing. Install them with:"
                f" {sys.executable} -m pip install 'gemini-companion[telemetry]', then start the editor anew."
            )
        except Exception as fault:
            return self._give_up(
                f"Telemetry is off: OpenTelemetry cannot use its settings ({type(fault).__name__}). Look at"
                " telemetry.otlpEndpoint and at the environment's OTEL_ variables."
            )
        try:
            self._send_on(pipeline)
        except Exception:
            logger.exception("Telemetry has ended")
            self._gave_up = True

    def _give_up(self, message: str) -> None:
        with self._lock:
            self._gave_up = True
            self._queue.clear()
        self._tell(message)

    def _send_on(self, pipeline: Pipeline) -> None:
        pause, since_metrics = self._every, 0.0
        while True:
            self._wake.wait(pause)
            self._wake.clear()
            is_last = self._closing.is_set()
            with self._lock:
                records, self._queue = self._queue, []
                dropped, self._dropped = self._dropped, 0
                self._characters = 0
            for record in records:
                pipeline.take(record)
            if dropped:
                pipeline.metrics.dropped(dropped)
            if is_last:
                if not pipeline.close():
                    self._note()
                return
            since_metrics += pause
            with_metrics = since_metrics >= METRICS_SECONDS
            if pipeline.export(with_metrics=with_metrics):
                pause = self._every
                since_metrics = 0.0 if with_metrics else since_metrics
            else:
                pause = min(SLOWEST_SECONDS, pause * 2)
                self._note()

    def _note(self) -> None:
        if not self._has_noted:
            self._has_noted = True
            where = self._options.outfile or self._options.endpoint_shown
            logger.warning("Telemetry is not taken by %s; it is tried again now and then", where)
