"""Where telemetry goes: a collector by gRPC or HTTP, or a file."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any, Final, Protocol

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from gemini_companion.settings.telemetry import TelemetryOptions

EXPORT_SECONDS: Final = 4.0
"""How long one batch may take, retries included. At the end of the daemon less is left, and it is left behind."""

_MOST_ANSWER: Final = 64 * 1024
"""Bytes of a collector's answer: it has nothing to say but how many were refused."""


class Exporters(Protocol):
    """Sends one batch after the other. Each returns whether it was taken; each may raise what it likes."""

    def spans(self, batch: Sequence[ReadableSpan]) -> bool:
        """Send spans."""
        ...

    def logs(self, batch: Sequence[ReadableLogRecord]) -> bool:
        """Send logs."""
        ...

    def metrics(self, data: MetricsData) -> bool:
        """Send metrics."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...


class Otlp:
    """The SDK's exporters."""

    def __init__(self, spans: Any, logs: Any, metrics: Any) -> None:
        self._spans = spans
        self._logs = logs
        self._metrics = metrics

    def spans(self, batch: Sequence[ReadableSpan]) -> bool:
        """Send spans."""
        return self._spans.export(batch) is SpanExportResult.SUCCESS

    def logs(self, batch: Sequence[ReadableLogRecord]) -> bool:
        """Send logs."""
        return self._logs.export(batch) is LogRecordExportResult.SUCCESS

    def metrics(self, data: MetricsData) -> bool:
        """Send metrics."""
        return self._metrics.export(data) is MetricExportResult.SUCCESS

    def close(self) -> None:
        """Close connections."""
        for exporter in (self._spans, self._logs, self._metrics):
            exporter.shutdown()


def make_exporters(options: TelemetryOptions) -> Exporters:
    """The exporters that the settings name. Nothing is opened before the first batch but gRPC's idle channel.

    Raises `ImportError` where a package is missing, and whatever the SDK raises for variables (`OTEL_…`) that it
    cannot use.
    """
    for name in ("opentelemetry", "grpc"):  # a dead collector is told of once, by us
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    if options.outfile is not None:
        from gemini_companion.adapters.telemetry.outfile import FileExporters

        return FileExporters(options.outfile)
    return _http(options) if options.protocol == "http" else _grpc(options)


def _http(options: TelemetryOptions) -> Exporters:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    from gemini_companion.adapters.telemetry.http_session import BoundedSession

    def made(kind: Any, path: str) -> Any:
        base = options.endpoint.rstrip("/")
        return kind(endpoint=f"{base}/v1/{path}", timeout=EXPORT_SECONDS, session=BoundedSession(options.endpoint))

    return Otlp(made(OTLPSpanExporter, "traces"), made(OTLPLogExporter, "logs"), made(OTLPMetricExporter, "metrics"))


def _grpc(options: TelemetryOptions) -> Exporters:
    # Read when grpc is imported. Commands are started by forks that run a program at once, which need no care; and
    # its own log would go to the editor's.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    def made(kind: Any) -> Any:
        return kind(
            endpoint=options.endpoint,
            insecure=options.endpoint.startswith("http://"),
            timeout=EXPORT_SECONDS,
            channel_options=(("grpc.max_receive_message_length", _MOST_ANSWER),),
        )

    return Otlp(made(OTLPSpanExporter), made(OTLPLogExporter), made(OTLPMetricExporter))
