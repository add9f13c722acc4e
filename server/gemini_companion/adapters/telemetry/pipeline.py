"""From records to batches: everything that runs in the telemetry's thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, TypeVar

import msgspec
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor, ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider

from gemini_companion.adapters.telemetry import names
from gemini_companion.adapters.telemetry.exporters import Exporters, make_exporters
from gemini_companion.adapters.telemetry.logs import Logs
from gemini_companion.adapters.telemetry.metrics import Metrics
from gemini_companion.adapters.telemetry.spans import Spans
from gemini_companion.adapters.vault.masking import Masking
from gemini_companion.sessions.observing.records import TEXT_LIMIT, AnyRecord
from gemini_companion.settings.telemetry import TelemetryOptions

MOST_WAITING: Final = 2_048
"""Spans, and logs, that wait for a collector; the oldest go for newer ones."""

MOST_WAITING_WITH_TEXT: Final = 256
"""The same where texts go along."""

BATCH: Final = 256
BATCH_WITH_TEXT: Final = 32
"""Spans or logs in one request: with texts it stays below a megabyte or two, as collectors take 4."""

TRIES: Final = 5
"""How often a batch is sent in vain before it is given up, for it may be the batch that the collector does not like."""

T = TypeVar("T")


class _Ended(SpanProcessor):
    """Keeps spans that have ended."""

    def __init__(self, waiting: deque[ReadableSpan]) -> None:
        self._waiting = waiting

    def on_end(self, span: ReadableSpan) -> None:
        self._waiting.append(span)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        pass


class _Emitted(LogRecordProcessor):
    """Keeps logs."""

    def __init__(self, waiting: deque[ReadableLogRecord]) -> None:
        self._waiting = waiting

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        self._waiting.append(
            ReadableLogRecord(
                log_record=log_record.log_record,
                resource=log_record.resource or Resource.get_empty(),
                instrumentation_scope=log_record.instrumentation_scope,
                limits=log_record.limits,
            )
        )

    def shutdown(self) -> None:
        pass

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


class Pipeline:
    """Makes spans, logs and metrics of records, and sends them when it is told to. For one thread.

    The SDK's own batch processors are not used: their threads outlive a daemon whose collector hangs.
    """

    def __init__(
        self,
        options: TelemetryOptions,
        version: str,
        exporters: Exporters | None = None,
        masking: Masking | None = None,
    ) -> None:
        self._masking = masking or Masking()
        resource = Resource.create({"service.name": names.SERVICE, "service.version": version})
        self._exporters = exporters or make_exporters(options)
        self._batch = BATCH_WITH_TEXT if options.log_prompts else BATCH
        most = MOST_WAITING_WITH_TEXT if options.log_prompts else MOST_WAITING
        self._ended: deque[ReadableSpan] = deque(maxlen=most)
        self._emitted: deque[ReadableLogRecord] = deque(maxlen=most)
        self._tries = 0

        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(_Ended(self._ended))
        loggers = LoggerProvider(resource=resource, shutdown_on_exit=False)
        loggers.add_log_record_processor(_Emitted(self._emitted))
        self._reader = InMemoryMetricReader()
        meters = MeterProvider([self._reader], resource=resource, shutdown_on_exit=False)
        self._spans = Spans(tracers, version)
        self._logs = Logs(loggers, version)
        self.metrics = Metrics(meters, version)

    def take(self, record: AnyRecord) -> None:
        """Make what is to be sent of a record."""
        if record.texts:
            masked = {name: self._masking.text(text)[:TEXT_LIMIT] for name, text in record.texts.items()}
            record = msgspec.structs.replace(record, texts=masked)
        context = self._spans.take(record)
        self._logs.take(record, context)
        self.metrics.take(record)

    def export(self, *, with_metrics: bool) -> bool:
        """Send what waits; whether it was taken. What was not waits on, and after some tries is given up."""
        return (
            self._send(self._ended, self._exporters.spans)
            and self._send(self._emitted, self._exporters.logs)
            and (not with_metrics or self._send_metrics())
        )

    def close(self) -> bool:
        """End what is open, send the rest, and close connections; whether it was taken."""
        self._spans.close()
        is_taken = self.export(with_metrics=True)
        self._exporters.close()
        return is_taken

    def _send(self, waiting: deque[T], send: Callable[[Sequence[T]], bool]) -> bool:
        while waiting:
            batch = list(islice(waiting, self._batch))
            if not _is_taken(send, batch):
                self._tries += 1
                if self._tries >= TRIES:
                    self._tries = 0
                    self.metrics.dropped(len(batch))
                    _remove(waiting, len(batch))
                return False
            self._tries = 0
            _remove(waiting, len(batch))
        return True

    def _send_metrics(self) -> bool:
        data: MetricsData | None = self._reader.get_metrics_data()
        return data is None or _is_taken(self._exporters.metrics, data)


def _remove(waiting: deque[T], count: int) -> None:
    for _ in range(count):
        waiting.popleft()


def _is_taken(send: Callable[[T], bool], batch: T) -> bool:
    try:
        return send(batch)
    except Exception:  # the exporters raise for some answers; it is no more than a batch that was not taken
        return False
