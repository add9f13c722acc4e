"""Collectors of OpenTelemetry: real servers of gRPC and HTTP, good ones and bad ones."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from tests.support.patience import PATIENCE


def values_of(attributes: Any) -> dict[str, Any]:
    """Attributes of a protobuf message as a dictionary."""
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None


class Received:
    """What came in."""

    def __init__(self) -> None:
        self.requests: list[Message] = []
        self.headers: list[dict[str, str]] = []
        self._came = threading.Condition()

    def take(self, request: Message) -> None:
        with self._came:
            self.requests.append(request)
            self._came.notify_all()

    def wait_for(self, kind: str) -> None:
        """Wait until something of a kind (`spans`, `logs`, `metrics`) came."""
        with self._came:
            assert self._came.wait_for(lambda: bool(getattr(self, kind)), PATIENCE), kind

    def _all(self, group: str, scope: str, items: str) -> list[Any]:
        return [
            item
            for request in list(self.requests)
            for of_resource in getattr(request, group, ())
            for of_scope in getattr(of_resource, scope)
            for item in getattr(of_scope, items)
        ]

    @property
    def spans(self) -> list[Any]:
        return self._all("resource_spans", "scope_spans", "spans")

    @property
    def logs(self) -> list[Any]:
        return self._all("resource_logs", "scope_logs", "log_records")

    @property
    def metrics(self) -> dict[str, Any]:
        """The newest of each name."""
        return {metric.name: metric for metric in self._all("resource_metrics", "scope_metrics", "metrics")}

    def everything(self) -> str:
        return "\n".join(map(str, self.requests))


@contextmanager
def grpc_collector() -> Generator[tuple[str, Received]]:
    """The SDK's own services on a free port."""
    received = Received()

    class Traces(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            received.take(request)
            return trace_service_pb2.ExportTraceServiceResponse()

    class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            received.take(request)
            return metrics_service_pb2.ExportMetricsServiceResponse()

    class Logs(logs_service_pb2_grpc.LogsServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            received.take(request)
            return logs_service_pb2.ExportLogsServiceResponse()

    server = grpc.server(ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(), server)
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(), server)
    logs_service_pb2_grpc.add_LogsServiceServicer_to_server(Logs(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}", received
    finally:
        server.stop(0).wait()


_BY_PATH = {
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
    "/v1/logs": logs_service_pb2.ExportLogsServiceRequest,
}


@contextmanager
def http_collector(*, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Generator[tuple[str, Received]]:
    """OTLP over HTTP on a free port; it answers with this status and these headers."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = _BY_PATH[self.path]()
            request.ParseFromString(body)
            received.headers.append(dict(self.headers))
            received.take(request)
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def bad_collector(first: bytes = b"", then: bytes = b"") -> Generator[tuple[str, threading.Event]]:
    """One that accepts connections, says `first`, and then says `then` for ever, or nothing; and who came."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    came, ended = threading.Event(), threading.Event()

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(0.05)
            if first:
                connection.recv(100)
                connection.sendall(first)
            while not ended.is_set():
                if then:
                    with suppress(TimeoutError):
                        connection.sendall(then)
                else:
                    ended.wait(0.05)

    def accept() -> None:
        while not ended.is_set():
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                talking.append(threading.Thread(target=talk, args=(connection,)))
                talking[-1].start()
                came.set()

    talking: list[threading.Thread] = []
    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", came
    finally:
        ended.set()
        for thread in (accepting, *talking):
            thread.join(PATIENCE)
        listener.close()


def refusing_address() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
