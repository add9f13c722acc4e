"""What a collector receives: what the documents say, by gRPC, by HTTP and in a file."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.telemetry import names
from gemini_companion.adapters.telemetry.worker import Telemetry
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.events import HookRan
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.observing.records import TEXT_LIMIT
from gemini_companion.settings.telemetry import TelemetryOptions
from tests.support.collector import Received, grpc_collector, http_collector, values_of
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleTool
from tests.support.sessions import Studio

SAID = "planted-word-"
KEY = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"


def chunk(*parts: dict[str, Any], prompt: int = 1_000) -> list[ModelChunk]:
    usage = Usage(prompt_tokens=prompt, cached_tokens=400, output_tokens=30, thought_tokens=5, total_tokens=prompt + 35)
    return [ModelChunk(parts=parts, finish_reason="STOP", usage=usage)]


@contextmanager
def sending(studio: Studio, options: TelemetryOptions) -> Generator[None]:
    """Telemetry of a studio, sent to its end."""
    told: list[str] = []
    telemetry = Telemetry(options, version="1.2.3", tell=told.append)
    telemetry.start()
    studio.services.observing.add(telemetry)
    yield
    assert telemetry.close(PATIENCE)
    assert told == []


async def a_day(studio: Studio) -> str:
    """Everything that is told of: a turn with a call and a hook, a failure, a compression. The first turn's id."""
    studio.model.streams = [
        chunk({"functionCall": {"name": "read_file", "args": {"path": f"{SAID}args"}}}),
        chunk({"text": " ".join(f"{SAID}answer {number}" for number in range(300))}),
        *(chunk({"text": " ".join(f"Well, {number} of {turn}." for number in range(300))}) for turn in range(5)),
        ModelUnavailable(f"{SAID}fault {KEY}", retryable=False),
    ]
    first = await studio.chat(f"{SAID}prompt my key is {KEY} " * 20)
    (await studio.session()).emit(
        HookRan(event="BeforeTool", name=f"/x/check.sh {SAID}hook", outcome="failed", duration_ms=7), None
    )
    for _ in range(5):
        await studio.chat("Go on. " * 200)
    with pytest.raises(ModelUnavailable):
        await studio.chat("And now.")
    await studio.compress()
    return first.turn_id


def studio_in(tmp_path: Path) -> Studio:
    return Studio(tmp_path, tools=[SampleTool("read_file", "read")])


def by_name(received: Received) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for span in received.spans:
        found.setdefault(span.name.split(" ")[0], []).append(span)
    return found


COLLECTORS: dict[str, Callable[[], Any]] = {"grpc": grpc_collector, "http": http_collector}


@pytest.mark.parametrize("protocol", COLLECTORS)
async def test_spans_metrics_and_logs_arrive_with_their_numbers(tmp_path: Path, protocol: Any) -> None:
    studio = studio_in(tmp_path)
    with (
        COLLECTORS[protocol]() as (endpoint, received),
        sending(studio, TelemetryOptions(enabled=True, endpoint=endpoint, protocol=protocol)),
    ):
        turn_id = await a_day(studio)
    spans = by_name(received)
    (turn,) = [span for span in spans["invoke_agent"] if values_of(span.attributes)["prompt_id"] == turn_id]
    told = values_of(turn.attributes)
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"], told["outcome"]) == (
        2_000,
        60,
        "completed",
    )
    below = [span for span in received.spans if span.parent_span_id == turn.span_id]
    assert [span.name.split(" ")[0] for span in below] == ["generate_content", "execute_tool", "generate_content"]
    assert {span.trace_id for span in below} == {turn.trace_id}
    assert all(turn.start_time_unix_nano <= span.end_time_unix_nano <= turn.end_time_unix_nano for span in below)
    call = values_of(below[0].attributes)
    assert call["gen_ai.provider.name"] == "gcp.gemini"
    assert (call["gen_ai.request.model"], call["gen_ai.response.finish_reasons"]) == ("gemini-2.5-pro", ["STOP"])
    assert call["gemini_companion.cost"] == pytest.approx((600 * 1.25 + 400 * 0.125 + 35 * 10) / 1e6)
    (compression,) = spans["chat_compression"]
    assert values_of(compression.attributes)["tokens_after"] < values_of(compression.attributes)["tokens_before"]
    of_compression = [span for span in received.spans if span.parent_span_id == compression.span_id]
    assert {values_of(span.attributes)["role"] for span in of_compression} == {"utility_compressor"}
    failed = [span for span in spans["invoke_agent"] if values_of(span.attributes).get("error.type")]
    assert [values_of(span.attributes)["error.type"] for span in failed] == ["ModelUnavailable"]
    tokens = {
        values_of(point.attributes)["gen_ai.token.type"]: point.sum
        for point in received.metrics["gen_ai.client.token.usage"].histogram.data_points
        if values_of(point.attributes)["gen_ai.request.model"] == "gemini-2.5-pro"
    }
    assert tokens["input"] >= 7_000
    (calls,) = received.metrics["gemini_companion.tool.call.count"].sum.data_points
    assert (calls.as_int, values_of(calls.attributes)["decision"]) == (1, "auto_accept")
    (first, *_) = [log for log in received.logs if log.event_name == "gemini_companion.tool_call"]
    assert first.span_id in {span.span_id for span in below}


async def test_the_tokens_of_a_preview_are_counted_once_when_it_is_installed(tmp_path: Path) -> None:
    studio = studio_in(tmp_path)
    with (
        http_collector() as (endpoint, received),
        sending(studio, TelemetryOptions(enabled=True, endpoint=endpoint, protocol="http")),
    ):
        for _ in range(5):
            await studio.chat("Go on. " * 200)
        shown = await studio.compress(preview=True)
        session, by = await studio.session(), studio.client.client_id
        done = await apply_preview(session, client=by, compression_id=shown.compression_id or "")
    assert (shown.status, done.status, shown.compression_id) == ("PREVIEW", "COMPRESSED", done.compression_id)
    told = [values_of(span.attributes) for span in by_name(received)["chat_compression"]]
    assert [(one["status"], one.get("tokens_before")) for one in told] == [
        ("PREVIEW", None),
        ("COMPRESSED", done.original_token_count),
    ]
    points = received.metrics["gemini_companion.chat_compression.tokens"].histogram.data_points
    assert {values_of(point.attributes)["type"]: point.sum for point in points} == {
        "before": done.original_token_count,
        "after": done.new_token_count,
    }


@pytest.mark.parametrize("protocol", COLLECTORS)
async def test_no_text_is_sent_unless_it_was_asked_for_and_no_secret_ever(tmp_path: Path, protocol: Any) -> None:
    for log_prompts in (False, True):
        studio = studio_in(tmp_path / str(log_prompts))
        with COLLECTORS[protocol]() as (endpoint, received):
            options = TelemetryOptions(enabled=True, endpoint=endpoint, protocol=protocol, log_prompts=log_prompts)
            with sending(studio, options):
                await a_day(studio)
        everything = received.everything()
        found = [what for what in ("prompt", "answer", "args", "fault", "hook") if f"{SAID}{what}" in everything]
        assert found == (["prompt", "answer", "args", "fault", "hook"] if log_prompts else [])
        assert KEY not in everything


async def test_a_key_where_a_text_is_cut_is_masked_before_the_cut(tmp_path: Path) -> None:
    studio, outfile = studio_in(tmp_path), tmp_path / "telemetry.jsonl"
    with sending(studio, TelemetryOptions(enabled=True, outfile=str(outfile), log_prompts=True)):
        for within in range(4, len(KEY), 7):
            await studio.chat(f"{'x ' * ((TEXT_LIMIT - within) // 2)}{KEY} and so on")
    sent = outfile.read_text("utf-8")
    assert "x x x" in sent
    assert KEY[:4] not in sent


async def test_a_file_gets_the_same_line_by_line_and_is_its_owners_alone(tmp_path: Path) -> None:
    studio, outfile = studio_in(tmp_path), tmp_path / "telemetry.jsonl"
    with sending(studio, TelemetryOptions(enabled=True, outfile=str(outfile))):
        await a_day(studio)
    assert stat.S_IMODE(outfile.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in outfile.read_text("utf-8").splitlines()]
    assert {key for line in lines for key in line} == {"resourceSpans", "resourceLogs", "resourceMetrics"}
    (spans,) = [
        scope["spans"]
        for line in lines
        for resource in line.get("resourceSpans", ())
        for scope in resource["scopeSpans"]
    ]
    assert all(re.fullmatch("[0-9a-f]{32}", span["traceId"]) for span in spans)
    assert SAID not in outfile.read_text("utf-8")


def documented(heading: str) -> list[list[str]]:
    """What stands in backticks in each row of the table behind a heading."""
    usage = (Path(__file__).resolve().parents[3] / "server" / "USAGE.md").read_text("utf-8")
    section = usage.partition("## Telemetry")[2].partition("\n## ")[0]
    table = section.partition(heading)[2].partition("\n\n| ")[2].partition("\n\n")[0]
    return [re.findall(r"`([^`]+)`", line) for line in table.splitlines()[2:]]


async def test_what_is_sent_stands_in_the_documents_and_nothing_else_does(tmp_path: Path) -> None:
    studio = studio_in(tmp_path)
    with grpc_collector() as (endpoint, received), sending(studio, TelemetryOptions(enabled=True, endpoint=endpoint)):
        await a_day(studio)
    sent = {span.name.split(" ")[0] for span in received.spans}
    assert sent == {name.split(" ")[0] for name in names.SPANS}
    rows = documented("**Spans**")
    assert {row[0].split(" ")[0] for row in rows} == sent
    told = {key for span in received.spans for key in values_of(span.attributes)}
    assert told <= {word for row in rows for word in row} | {"session.id", "gen_ai.conversation.id", "prompt_id"}

    rows = documented("**Metrics**")
    assert {row[0] for row in rows} == set(names.METRICS)
    attributes = {row[0]: set(row[2:]) for row in rows}
    assert {row[0]: row[1] for row in rows} == names.METRICS
    for name, metric in received.metrics.items():
        points = metric.sum.data_points or metric.histogram.data_points
        assert {key for point in points for key in values_of(point.attributes)} <= attributes[name], name

    rows = documented("**Logs**")
    assert {row[0] for row in rows} == set(names.EVENTS)
    attributes = {row[0]: set(row[1:]) for row in rows}
    for log in received.logs:
        shared = {"session.id", "gen_ai.conversation.id", "prompt_id", "event.name"}
        assert set(values_of(log.attributes)) <= attributes[log.event_name] | shared, log.event_name
