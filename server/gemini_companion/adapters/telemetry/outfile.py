"""Telemetry in a file: a line of OTLP's JSON for each batch, as the collector's file exporter writes it."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Sequence
from typing import Any, Final, cast

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.metrics.export import MetricsData
from opentelemetry.sdk.trace import ReadableSpan

MOST_BYTES: Final = 32 * 2**20
"""A file that is larger is renamed, with `.1` behind its name, in place of the one that was renamed before."""

_IDS: Final = frozenset({"traceId", "spanId", "parentSpanId"})


class FileExporters:
    """Appends to a file that only its owner may read. Each method raises `OSError`."""

    def __init__(self, path: str, most_bytes: int = MOST_BYTES) -> None:
        self._path = path
        self._most_bytes = most_bytes

    def spans(self, batch: Sequence[ReadableSpan]) -> bool:
        """Write spans."""
        return self._write(encode_spans(batch))

    def logs(self, batch: Sequence[ReadableLogRecord]) -> bool:
        """Write logs."""
        return self._write(encode_logs(batch))

    def metrics(self, data: MetricsData) -> bool:
        """Write metrics."""
        return self._write(encode_metrics(data))

    def close(self) -> None:
        """Nothing is open."""

    def _write(self, message: Message) -> bool:
        line = json.dumps(_with_hex_ids(MessageToDict(message)), ensure_ascii=False, separators=(",", ":"))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(22, "it is no plain file", self._path)
            _write_all(descriptor, line.encode(errors="replace") + b"\n")
        finally:
            os.close(descriptor)
        if status.st_size > self._most_bytes:
            os.replace(self._path, f"{self._path}.1")
        return True


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _with_hex_ids(value: Any) -> Any:
    """The message with its ids in hexadecimal digits, as OTLP has them, in place of protobuf's base64."""
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        return {
            key: base64.b64decode(one).hex() if key in _IDS and isinstance(one, str) else _with_hex_ids(one)
            for key, one in held.items()
        }
    if isinstance(value, list):
        return [_with_hex_ids(one) for one in cast("list[Any]", value)]
    return value
