"""A collector that is away, hangs, refuses or floods costs a note in the log, and neither time nor memory."""

from __future__ import annotations

import gc
import logging
import threading
import tracemalloc
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from opentelemetry.sdk.metrics.export import MetricsData
from opentelemetry.sdk.trace import ReadableSpan

from gemini_companion.adapters.telemetry import exporters, worker
from gemini_companion.adapters.telemetry.outfile import FileExporters
from gemini_companion.adapters.telemetry.pipeline import MOST_WAITING, TRIES, Pipeline
from gemini_companion.adapters.telemetry.worker import Telemetry
from gemini_companion.engine.history.usage import Usage
from gemini_companion.sessions.observing.records import AnyRecord, ModelCalled, ToolCalled, TurnBegan, TurnEnded
from gemini_companion.settings.telemetry import TelemetryOptions
from tests.support.collector import bad_collector, grpc_collector, http_collector, refusing_address
from tests.support.patience import PATIENCE

FLOOD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65_536 + b"\r\n"
HEADERS = b"HTTP/1.1 200 OK\r\n", b"X-Flood: " + b"x" * 60_000 + b"\r\n"


def a_turn(number: int, text: str = "") -> list[AnyRecord]:
    common: dict[str, Any] = {"time": 1_700_000_000_000 + number, "session_id": "s", "turn_id": f"t{number}"}
    usage = Usage(prompt_tokens=100, output_tokens=5)
    texts = {"prompt": text} if text else {}
    return [
        TurnBegan(**common, model="gemini-2.5-pro", prompt_length=5, texts=texts),
        ModelCalled(**common, provider="gemini", model="gemini-2.5-pro", purpose="answer", role="main",
                    subject=f"t{number}", outcome="ok", usage=usage, duration_ms=5),
        ToolCalled(**common, call_id="c", name="glob", outcome="ok", decision="auto_accept", duration_ms=1),
        TurnEnded(**common, outcome="completed", usage=usage, duration_ms=9),
    ]  # fmt: skip


@contextmanager
def collector(kind: str) -> Generator[tuple[str, threading.Event | None]]:
    if kind == "away":
        yield refusing_address(), None
    elif kind == "hangs":
        with bad_collector() as (address, came):
            yield address, came
    elif kind == "garbage":
        with bad_collector(b"\x00\xff garbage", b"\x00\xff") as (address, came):
            yield address, came
    else:
        with bad_collector(*(HEADERS if kind == "floods with headers" else FLOOD)) as (address, came):
            yield address, came


@pytest.mark.parametrize("protocol", ["grpc", "http"])
@pytest.mark.parametrize("kind", ["away", "hangs", "garbage", "floods", "floods with headers"])
def test_records_are_taken_at_once_and_the_end_is_not_held_up(
    protocol: Literal["grpc", "http"],
    kind: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if kind != "hangs":
        monkeypatch.setattr(exporters, "EXPORT_SECONDS", 0.3)
    told: list[str] = []
    with collector(kind) as (address, came):
        options = TelemetryOptions(enabled=True, endpoint=address, protocol=protocol)
        telemetry = Telemetry(options, version="1", tell=told.append, every_seconds=0.01)
        telemetry.start()
        for number in range(50):
            for record in a_turn(number):
                telemetry.take(record)
        if came is not None:
            assert came.wait(PATIENCE)
        telemetry.close(0.01)  # it returns, whatever the collector does
    assert telemetry.close(PATIENCE)  # its last request has ended with the collector
    assert told == []
    assert len([one for one in caplog.records if one.levelno >= logging.WARNING]) <= 1


@pytest.mark.parametrize("status", [302, 400, 401, 429, 500, 503])
def test_a_collector_that_refuses_is_noted_once(status: int, caplog: pytest.LogCaptureFixture) -> None:
    with http_collector(status=status, headers=(("Location", "http://elsewhere"), ("Retry-After", "9999"))) as (
        endpoint,
        received,
    ):
        options = TelemetryOptions(enabled=True, endpoint=endpoint, protocol="http")
        telemetry = Telemetry(options, version="1", tell=lambda _: None, every_seconds=0.01)
        telemetry.start()
        for record in a_turn(1):
            telemetry.take(record)
        received.wait_for("spans")
        telemetry.close(PATIENCE)
    assert [one.getMessage().partition(" by ")[0] for one in caplog.records] in ([], ["Telemetry is not taken"])
    assert "elsewhere" not in caplog.text


def test_what_a_collector_did_not_take_is_sent_when_it_is_back() -> None:
    seen: list[int] = []
    recorder = Recorder(lambda batch: seen.append(len(batch)) or len(seen) > 2)
    pipeline = Pipeline(TelemetryOptions(enabled=True), "1", recorder)
    for record in a_turn(1):
        pipeline.take(record)
    assert [pipeline.export(with_metrics=False) for _ in range(3)] == [False, False, True]
    assert seen[:3] == [3, 3, 3]


def test_a_batch_that_is_never_taken_is_given_up_and_counted() -> None:
    recorder = Recorder(lambda _: False)
    pipeline = Pipeline(TelemetryOptions(enabled=True), "1", recorder)
    for record in a_turn(1):
        pipeline.take(record)
    for _ in range(TRIES):
        pipeline.export(with_metrics=False)
    recorder.takes = lambda _: True
    recorder.spans_seen.clear()
    pipeline.export(with_metrics=True)
    assert recorder.spans_seen == []
    assert "telemetry.dropped" in str(recorder.metrics_seen[-1].to_json())


class Recorder:
    """Exporters that do as they are told."""

    def __init__(self, takes: Callable[[Sequence[Any]], bool]) -> None:
        self.takes = takes
        self.spans_seen: list[ReadableSpan] = []
        self.metrics_seen: list[MetricsData] = []

    def spans(self, batch: Sequence[ReadableSpan]) -> bool:
        self.spans_seen += batch
        return self.takes(batch)

    def logs(self, batch: Sequence[Any]) -> bool:
        return True

    def metrics(self, data: MetricsData) -> bool:
        self.metrics_seen.append(data)
        return True

    def close(self) -> None:
        pass


@pytest.mark.slow
def test_a_thousand_turns_that_no_collector_takes_have_flat_memory() -> None:
    pipeline = Pipeline(TelemetryOptions(enabled=True), "1", Recorder(lambda _: False))
    sizes: list[int] = []
    tracemalloc.start()
    try:
        for number in range(1_500):
            for record in a_turn(number):
                pipeline.take(record)
            if number % 500 == 499:
                pipeline.export(with_metrics=True)
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert MOST_WAITING < 3 * 1_000
    assert sizes[2] - sizes[1] < 0.2 * sizes[1]


@pytest.mark.slow
def test_a_thousand_turns_with_a_collector_leave_nothing_behind(caplog: pytest.LogCaptureFixture) -> None:
    with grpc_collector() as (endpoint, received):
        pipeline = Pipeline(TelemetryOptions(enabled=True, endpoint=endpoint), "1")
        sizes: list[int] = []
        tracemalloc.start()
        try:
            for number in range(1_000):
                for record in a_turn(number):
                    pipeline.take(record)
                if number % 100 == 99:
                    assert pipeline.export(with_metrics=True)
                    count = len(received.spans)
                    received.requests.clear()
                    assert count == 300
                    gc.collect()
                    sizes.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
            pipeline.close()
    assert sizes[-1] - sizes[4] < 500_000  # five hundred turns of three spans would be megabytes


def test_the_queue_is_bounded_in_records_and_in_texts() -> None:
    held = threading.Event()
    taken: list[AnyRecord] = []

    def make() -> Pipeline:
        held.wait(PATIENCE)
        pipeline = Pipeline(TelemetryOptions(enabled=True), "1", Recorder(lambda _: True))
        take = pipeline.take

        def seen(record: AnyRecord) -> None:
            taken.append(record)
            take(record)

        pipeline.take = seen
        return pipeline

    options = TelemetryOptions(enabled=True, log_prompts=True)
    telemetry = Telemetry(options, version="1", tell=lambda _: None, make=make)
    telemetry.start()
    (began, *_) = a_turn(1, "x" * 10_000)
    for _ in range(worker.MOST_QUEUED + 100):
        telemetry.take(began)
    held.set()
    assert telemetry.close(PATIENCE)
    assert len(taken) == worker.MOST_QUEUED
    assert sum(len(record.texts.get("prompt", "")) for record in taken) == worker.MOST_CHARACTERS


def test_missing_packages_are_told_with_the_command_that_installs_them() -> None:
    told: list[str] = []

    def make() -> Pipeline:
        raise ImportError("no module")

    telemetry = Telemetry(TelemetryOptions(enabled=True), version="1", tell=told.append, make=make)
    telemetry.start()
    assert telemetry.close(PATIENCE)
    telemetry.take(a_turn(1)[0])
    (message,) = told
    assert "-m pip install 'gemini-companion[telemetry]'" in message


def test_turns_that_never_end_are_ended_at_last() -> None:
    recorder = Recorder(lambda _: True)
    pipeline = Pipeline(TelemetryOptions(enabled=True), "1", recorder)
    for number in range(1_000):
        pipeline.take(a_turn(number)[0])
    pipeline.close()
    assert len(recorder.spans_seen) == 1_000


def test_a_file_that_cannot_be_written_is_noted_and_a_large_one_begins_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = TelemetryOptions(enabled=True, outfile=str(tmp_path / "missing" / "x.jsonl"))
    telemetry = Telemetry(options, version="1", tell=lambda _: None, every_seconds=0.001)
    telemetry.start()
    telemetry.take(a_turn(1)[0])
    telemetry.take(a_turn(1)[3])
    telemetry.close(PATIENCE)
    (note,) = caplog.records
    assert "missing/x.jsonl" in note.getMessage()

    file = tmp_path / "large.jsonl"
    pipeline = Pipeline(TelemetryOptions(enabled=True), "1", FileExporters(str(file), most_bytes=10))
    for number in range(3):
        for record in a_turn(number):
            pipeline.take(record)
        assert pipeline.export(with_metrics=False)
    assert {path.name for path in tmp_path.iterdir()} == {"large.jsonl.1"} or file.stat().st_size < 100_000
