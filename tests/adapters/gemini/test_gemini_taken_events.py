"""Events that are taken from the SDK are an answer's like all others: their order, their limits, how their stream ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.transport import BREATH_EVENTS
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.sessions.models.port import ModelChunk
from tests.adapters.gemini.both_ways import EVENTS, Reader, Stream
from tests.support.patience import until

pytestmark = pytest.mark.usefixtures("bounded")

NEVER = 10 * 60_000
"""Milliseconds."""


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    made = Reader(GeminiOptions(api_key="k", timeout_ms=NEVER, after_finish_ms=NEVER))
    yield made
    await made.close()


def event(*parts: dict[str, Any], finish: str | None = None) -> bytes:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    return b"data: " + json.dumps({"candidates": [candidate]}).encode() + b"\n\n"


def plain(text: str, finish: str | None = None) -> bytes:
    return event({"text": text}, finish=finish)


def other(name: str) -> bytes:
    return event({"functionCall": {"name": name}})


def said(chunks: list[ModelChunk]) -> list[str]:
    return [part.get("text") or part["functionCall"]["name"] for chunk in chunks for part in chunk.parts]


MIXED = [plain("1"), plain("2"), other("3"), plain("4"), other("5"), other("6"), plain("7"), plain("8", "STOP")]


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
async def test_plain_and_other_events_stay_in_their_order(reader: Reader, size: int):
    stream = b"".join(MIXED)
    told = await reader.told(Stream([stream[start : start + size] for start in range(0, len(stream), size)]))
    assert said(told.chunks) == list("12345678")
    assert reader.by_sdk == [False, False, True, False, True, True, False, False]
    assert told.fault is None


async def test_each_event_is_told_when_it_is_there_and_once(reader: Reader):
    gates = [asyncio.Event() for _ in MIXED]
    stream = Stream([step for pair in zip(MIXED, gates, strict=True) for step in pair])
    chunks: list[ModelChunk] = []
    reading = asyncio.create_task(reader.read(stream, EVENTS, chunks))
    for number, gate in enumerate(gates, 1):
        await until(lambda number=number: stream.read == 2 * number)
        assert said(chunks) == list("12345678")[:number]
        gate.set()
    await reading
    assert said(chunks) == list("12345678")


async def test_a_stream_of_plain_events_alone_ends_as_any_other(reader: Reader):
    stream = Stream([plain("Hel"), plain("lo", "STOP")])
    told = await reader.told(stream)
    assert (said(told.chunks), told.fault) == (["Hel", "lo"], None)
    assert stream.is_closed
    assert reader.by_sdk == [False, False]


async def test_what_follows_the_mark_of_the_end_is_not_waited_for(reader: Reader):
    stream = Stream([plain("Hi", "STOP") + b"data: [DONE]\n\n" + plain("more"), asyncio.Event()])
    told = await reader.told(stream)
    assert (said(told.chunks), told.fault) == (["Hi"], None)
    assert stream.is_closed


async def test_cancelling_between_two_plain_events_closes_the_connection(reader: Reader):
    stream = Stream([plain("Hel"), asyncio.Event(), plain("lo")])
    chunks: list[ModelChunk] = []
    reading = asyncio.create_task(reader.read(stream, EVENTS, chunks))
    await until(lambda: stream.read == 2)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert said(chunks) == ["Hel"]
    assert stream.is_closed


@pytest.mark.parametrize(
    "error",
    [
        b'data: {"error": {"code": 503, "message": "Overloaded."}}\n\n',
        b'{\n"error": {"code": 503, "message": "Overloaded."}\n}\n',
    ],
)
async def test_an_error_comes_after_the_plain_events_before_it_and_nothing_after_it(reader: Reader, error: bytes):
    for steps in ([plain("Hel"), error, plain("lo")], [plain("Hel") + error + plain("lo")]):
        stream = Stream(steps)
        chunks: list[ModelChunk] = []
        with pytest.raises(ModelUnavailable, match="Overloaded"):
            await reader.read(stream, EVENTS, chunks)
        assert said(chunks) == ["Hel"]
        assert stream.is_closed


async def test_an_error_in_bare_json_is_told_before_its_event_ends(reader: Reader):
    stream = Stream([plain("Hel") + b'{"error": {"code": 503, "message": "Overloaded."}}\n', asyncio.Event()])
    with pytest.raises(ModelUnavailable, match="Overloaded"):
        await reader.read(stream, EVENTS, [])


async def test_a_connection_that_breaks_after_plain_events_is_a_fault(reader: Reader):
    stream = Stream([plain("Hel"), None])
    chunks: list[ModelChunk] = []
    with pytest.raises(ModelUnavailable, match="broke"):
        await reader.read(stream, EVENTS, chunks)
    assert said(chunks) == ["Hel"]


async def test_silence_after_plain_events_is_bounded():
    reader = Reader(GeminiOptions(api_key="k", timeout_ms=500, after_finish_ms=NEVER))
    stream = Stream([plain("Hel"), asyncio.Event()])
    chunks: list[ModelChunk] = []
    with pytest.raises(ModelUnavailable, match="too long"):
        await reader.read(stream, EVENTS, chunks)
    assert said(chunks) == ["Hel"]
    assert stream.is_closed
    await reader.close()


async def test_after_a_plain_event_with_a_finish_reason_the_rest_is_waited_for_only_briefly():
    reader = Reader(GeminiOptions(api_key="k", timeout_ms=NEVER, after_finish_ms=50))
    stream = Stream([plain("Hi", "STOP"), asyncio.Event()])
    chunks: list[ModelChunk] = []
    with pytest.raises(ModelUnavailable, match="too long"):
        await reader.read(stream, EVENTS, chunks)
    assert said(chunks) == ["Hi"]
    await reader.close()


async def test_an_unspecified_finish_reason_ends_nothing():
    reader = Reader(GeminiOptions(api_key="k", timeout_ms=NEVER, after_finish_ms=0))
    gate = asyncio.Event()
    stream = Stream([plain("Hel", "FINISH_REASON_UNSPECIFIED"), gate, plain("lo")])
    chunks: list[ModelChunk] = []
    reading = asyncio.create_task(reader.read(stream, EVENTS, chunks))
    await until(lambda: stream.read == 2)
    gate.set()
    await reading
    assert [chunk.finish_reason for chunk in chunks] == [None, None]
    await reader.close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json"}, 200),
        ({"content-type": "text/event-stream; charset=latin-1"}, 200),
        ({"content-type": "text/event-stream"}, 503),
    ],
)
async def test_what_is_no_answer_in_utf_8_is_the_sdks(reader: Reader, headers: dict[str, str], status: int):
    told = await reader.told(Stream([plain("Hi")]), headers, status)
    assert not any(not by_sdk for by_sdk in reader.by_sdk)
    assert bool(told.fault) is (status != 200)


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "utf8", '"utf-8"', "none-such"])
async def test_utf_8_by_any_name_is_taken(reader: Reader, charset: str):
    told = await reader.told(Stream([plain("Hi")]), {"content-type": f"text/event-stream; charset={charset}"})
    assert said(told.chunks) == ["Hi"]
    assert reader.by_sdk == [False]


@pytest.mark.parametrize("event", [b"data: {}\n\n", other("one")], ids=["plain", "other"])
async def test_the_loop_gets_its_turns_among_many_events_that_come_at_once(reader: Reader, event: bytes):
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    told = await reader.told(Stream([event * 2_000 + plain("", "STOP")]))
    waiting.cancel()
    assert len(told.chunks) == 2_001
    assert turns >= 2_000 / BREATH_EVENTS
