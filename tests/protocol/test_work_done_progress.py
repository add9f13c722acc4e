"""Progress bars."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.protocol.progress import WorkDone, client_progress
from gemini_companion.protocol.sink import ConnectionSink
from gemini_companion.sessions.compression_events import CompressionCancelled, CompressionProgress
from gemini_companion.sessions.events import MessageDelta
from tests.support.wire import InMemoryClient


def shown(client: InMemoryClient) -> list[dict[str, Any]]:
    return [params["value"] for params in client.notifications("$/progress")]


async def test_the_bar_of_a_request_begins_reports_and_ends(client: InMemoryClient):
    with client_progress(client.server.connection, "token", "Compressing") as work:
        work.report("verifying", 50)
        work.report()
        work.end("done")
        work.end("again")
        work.report("too late")
        work.begin("too late")
    assert shown(client) == [
        {"kind": "begin", "title": "Compressing", "cancellable": True},
        {"kind": "report", "message": "verifying", "percentage": 50},
        {"kind": "report"},
        {"kind": "end", "message": "done"},
    ]
    assert {params["token"] for params in client.notifications("$/progress")} == {"token"}


async def test_a_bar_ends_also_when_its_work_fails(client: InMemoryClient):
    with pytest.raises(ValueError, match="no"), client_progress(client.server.connection, 7, "Compressing"):
        raise ValueError("no")
    assert [value["kind"] for value in shown(client)] == ["begin", "end"]


async def test_without_a_token_nothing_is_shown(client: InMemoryClient):
    with client_progress(client.server.connection, None, "Compressing") as work:
        work.report("x")
    assert client.received == []


async def test_nothing_is_reported_before_the_begin(client: InMemoryClient):
    work = WorkDone(client.server.connection, "token")
    work.report("x")
    work.end()
    assert client.received == []


async def test_a_bar_has_the_phases_of_its_own_sessions_compressions_and_what_goes_on_then(client: InMemoryClient):
    sink = ConnectionSink(client.server.connection)
    with (
        sink.compression_progress("waits", "Gemini answers", lambda: "s1", afterwards="Answering"),
        sink.compression_progress("other", "Gemini answers", lambda: "s2", afterwards="Answering"),
    ):
        began = CompressionProgress(compression_id="c", phase="summarising", elapsed_ms=0)
        sink.event("s1", 1, 0, "t", began)
        sink.event("s1", 2, 0, "t", CompressionCancelled(compression_id="c"))
    told = [(params["token"], params["value"].get("message")) for params in client.notifications("$/progress")]
    assert [message for token, message in told if token == "waits"] == [None, "Summarising", "Answering", None]
    assert [message for token, message in told if token == "other"] == [None, None]


async def test_a_piece_of_an_answer_asks_nothing_of_the_bars_of_compressions(client: InMemoryClient):
    sink, asked = ConnectionSink(client.server.connection), list[str]()

    def session_id() -> str:
        asked.append("s1")
        return "s1"

    with sink.compression_progress("waits", "Gemini answers", session_id, afterwards="Answering"):
        sink.event("s1", 1, 0, "t", MessageDelta(text="a word", attempt=1))
        assert asked == []
        sink.event("s1", 2, 0, "t", CompressionProgress(compression_id="c", phase="summarising", elapsed_ms=0))
        assert asked == ["s1"]
