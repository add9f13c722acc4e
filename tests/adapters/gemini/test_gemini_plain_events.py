"""What is taken of a stream without the SDK is what the SDK would have told: every chunk, every fault, in its order."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import threading
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.gemini.event_stream import EventLines
from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.plain_events import LARGE_BYTES, PlainEvents, plain_chunk
from gemini_companion.adapters.gemini.sdk import Connection
from gemini_companion.adapters.gemini.transport import http_client
from gemini_companion.engine.errors import ModelFault
from gemini_companion.sessions.models.port import ModelChunk
from tests.adapters.gemini.both_ways import EVENTS, Reader, Stream, Told, described, leave_all_to_the_sdk, read
from tests.adapters.gemini.wire_answers import ODD_SIGNATURES, bodies, lines, written
from tests.support.emulator import (
    Emulator,
    Reply,
    answer,
    call,
    faults,
    grounded,
    recordings_folder,
    responses,
    thought,
)
from tests.support.examples import examples

Json = dict[str, Any]

PACKED: Final = {**EVENTS, "content-encoding": "gzip"}


class BothWays:
    """Two readers of the same streams, on an event loop of their own."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._readers = {
            (taking, vertex): self._runner.run(_reader(GeminiOptions(api_key="k", vertex=vertex), taking=taking))
            for taking in (True, False)
            for vertex in (False, True)
        }

    def told(self, stream: bytes, cuts: Sequence[int] = (), *, vertex: bool = False, packed: bool = False) -> Told:
        """What both of them tell of this stream, which comes in pieces that end at these bytes."""
        body = gzip.compress(stream) if packed else stream
        borders = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
        pieces = [body[start:stop] for start, stop in itertools.pairwise(borders)]
        headers = PACKED if packed else EVENTS
        taken, whole = (
            self._runner.run(self._readers[taking, vertex].told(Stream(pieces), headers)) for taking in (True, False)
        )
        assert all(self._readers[False, vertex].by_sdk), "nothing is taken where nobody takes it"
        assert taken == whole
        assert json.dumps([list(map(list_of_fields, chunk.parts)) for chunk in taken.chunks]) == json.dumps(
            [list(map(list_of_fields, chunk.parts)) for chunk in whole.chunks]
        )
        return taken

    def by_sdk(self, *, vertex: bool = False) -> list[bool]:
        """Of the pieces of the last stream, whether the SDK told them."""
        return self._readers[True, vertex].by_sdk

    def close(self) -> None:
        """Close the connections."""
        for reader in self._readers.values():
            self._runner.run(reader.close())
        self._runner.close()


def list_of_fields(part: Json) -> list[tuple[str, Any]]:
    """In their order, in which they are stored."""
    return list(part.items())


async def _reader(options: GeminiOptions, *, taking: bool) -> Reader:
    return Reader(options, taking=taking)


@pytest.fixture(scope="module")
def both_ways() -> Iterator[BothWays]:
    made = BothWays()
    yield made
    made.close()


def event(body: object) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\r\n\r\n"


# --- what the service and the emulator send


def test_every_recorded_stream_is_told_as_the_sdk_tells_it(both_ways: BothWays):
    folder = recordings_folder()
    if folder is None:
        pytest.skip("no recordings: set COMPANION_RECORDINGS")
    entries = [
        json.loads(line) for file in sorted(folder.glob("*.responses")) for line in file.read_text("utf-8").splitlines()
    ]
    assert entries
    for entry in entries:
        bodies = entry["response"] if isinstance(entry["response"], list) else [entry["response"]]
        told = both_ways.told(b"".join(map(event, bodies)))
        assert len(told.chunks) == len(bodies)
        calls = ["functionCall" in json.dumps(body) for body in bodies]
        assert both_ways.by_sdk() == calls, "the SDK had to tell those alone that are not plain"


@asynccontextmanager
async def speaking_to(emulator: Emulator, *, taking: bool) -> AsyncGenerator[Connection]:
    options = GeminiOptions(api_key="k", base_url=emulator.base_url)
    http = http_client(options)
    if not taking:
        leave_all_to_the_sdk(http)
    connection = Connection(options, http)
    yield connection
    await connection.close()


SCRIPTS: Final[dict[str, Reply]] = {
    **{name: fault() for name, fault in faults.FAULTS.items() if not name.startswith("hang")},
    "texts": answer("Hel", "lo", usage={"promptTokenCount": 3, "thoughtsTokenCount": 2}),
    "thoughts": answer(thought("Hm"), {"text": "", "thoughtSignature": "+/+/aGk="}),
    "calls": answer("I look.", call("ls", {"path": "é"}), call("ls"), "Done."),
    "sources": grounded("It rains.", sources=[("https://a.example", "A")], passages=[(2, [0])]),
    "as they are": responses({"candidates": []}, {}, {"promptFeedback": {"blockReason": "OTHER"}}),
}


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
async def test_what_the_emulator_sends_is_told_as_the_sdk_tells_it(emulator: Emulator, script: Reply):
    told: list[Told] = []
    for taking in (True, False):
        emulator.script(script)
        async with speaking_to(emulator, taking=taking) as connection:
            chunks: list[ModelChunk] = []
            try:
                await read(connection, chunks, [])
            except ModelFault as fault:
                told.append(Told(chunks, described(fault)))
            else:
                told.append(Told(chunks, None))
    assert told[0] == told[1]


# --- whatever else may come


@given(
    stream=st.lists(lines, max_size=5).map(b"".join),
    cuts=st.lists(st.integers(0, 400), max_size=6),
    vertex=st.booleans(),
    packed=st.booleans(),
)
@example(stream=b'data: {}\n{"error": {"code": 503}}\n\n', cuts=[], vertex=False, packed=False)
@example(stream=b'{\ndata: {}\n\n"a": 1}\ndata: {}\n\n', cuts=[4], vertex=False, packed=False)
@example(stream=b"data: {}\n\ndata: {}\ndata: [DONE]\n", cuts=[11], vertex=False, packed=False)
@settings(deadline=None, max_examples=examples(2_000))
def test_whatever_comes_is_told_as_the_sdk_tells_it(
    both_ways: BothWays, stream: bytes, cuts: list[int], vertex: bool, packed: bool
):
    both_ways.told(stream, cuts, vertex=vertex, packed=packed)


@given(body=bodies, escaped=st.booleans(), vertex=st.booleans())
@settings(deadline=None, max_examples=examples(2_000))
def test_an_event_of_known_fields_is_told_as_the_sdk_tells_it(
    both_ways: BothWays, body: Json, escaped: bool, vertex: bool
):
    both_ways.told(b"data: " + written(body, escaped) + b"\n\n", vertex=vertex)


@pytest.mark.parametrize("vertex", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        *({"candidates": [{"content": {"parts": [{"text": "x", "thoughtSignature": one}]}}]} for one in ODD_SIGNATURES),
        *({"candidates": [{"content": {"parts": [part]}}]} for part in ({"text": None}, {"thought": False}, {})),
        *({"candidates": [{"content": {"parts": [{"text": one}]}}]} for one in ("\ud800", "\x00", "\x85", 5, True)),
        *({"candidates": [{"content": {"parts": [{"thought": one}]}}]} for one in ("true", 1, None)),
        *({"candidates": [{"content": content}]} for content in ({}, None, {"parts": None}, {"role": 5}, [])),
        *(
            {"candidates": [{"finishReason": one}]}
            for one in ("", "stop", "NEW", "FINISH_REASON_UNSPECIFIED", None, [])
        ),
        *({"candidates": one} for one in ([], None, {}, [None], [{}, {"finishReason": "STOP"}])),
        *({"usageMetadata": {"totalTokenCount": one}} for one in (-1, 2**53, 2**64, 5.0, 5.5, "7", True, None)),
        *({"usageMetadata": one} for one in ({}, None, [], {"trafficType": 3}, {"serviceTier": 3})),
        *(
            {"usageMetadata": {"totalTokenCount": 3, "new": one}}
            for one in (1, None, "\ud800", [{"a": {}}], {"new": 1})
        ),
        *({"usageMetadata": {one: 3, "totalTokenCount": 5}} for one in ("total_token_count", "new_count")),
        *({"usageMetadata": {"total_token_count": one}} for one in (3, None, "x")),
        {"usageMetadata": {"promptTokensDetails": [{"token_count": 3, "new": 1}]}},
        *({"modelVersion": one} for one in ("", "m", "\ud800", None, 5)),
        *(
            {"createTime": one}
            for one in ("2026-11-21T01:02:03.123456789Z", "2026-11-21T01:02:03Z\0", "2026-13-01T00:00:00Z", 5, None)
        ),
        {"candidates": [{"content": {"parts": [{"text": "x", "thought_signature": "AAAA"}]}}]},
        {"error": None},
        {"error": {"code": 404}, "candidates": []},
        {"candidates": [], "error": {"code": 404}},
    ],
    ids=ascii,
)
def test_a_value_that_is_odd_is_told_as_the_sdk_tells_it(both_ways: BothWays, body: Json, vertex: bool):
    both_ways.told(event({"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]}) + event(body), vertex=vertex)


@pytest.mark.parametrize("vertex", [False, True])
@pytest.mark.parametrize("value", [b'"\xff"', b'"\xc3\xa9"', b"1e999", b"NaN", b"[" * 5_000 + b"]" * 5_000], ids=len)
def test_an_odd_value_that_nobody_knows_is_told_as_the_sdk_tells_it(both_ways: BothWays, value: bytes, vertex: bool):
    both_ways.told(b'data: {"usageMetadata": {"totalTokenCount": 3, "new": ' + value + b"}}\n\n", vertex=vertex)


# --- what is plain

PIECE: Final[Json] = {
    "candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}, "index": 0}],
    "usageMetadata": {
        "promptTokenCount": 5,
        "totalTokenCount": 6,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}],
        "serviceTier": "standard",
    },
    "modelVersion": "gemini-2.5-flash",
    "responseId": "r",
}


@pytest.mark.parametrize(
    "body",
    [
        PIECE,
        {},
        {**PIECE, "createTime": "2026-11-21T01:02:03.123456Z"},
        {"usageMetadata": {"promptTokenCount": 5, "trafficType": "ON_DEMAND"}},
        {"usageMetadata": {"promptTokenCount": 5, "newTokenCount": 3, "new": {"by": [{"kind": "é"}]}}},
        {"usageMetadata": {"promptTokenCount": 5, "cacheTokensDetails": [{"tokenCount": 5, "new": "x"}]}},
        {
            "candidates": [
                {"finishReason": "STOP", "index": 0, "safetyRatings": [{"category": "C", "probability": "LOW"}]}
            ]
        },
        {"candidates": [{"content": {"parts": [{"text": "Hm", "thought": True}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "+/+/aGk="}, {}]}}]},
    ],
)
def test_what_the_service_sends_of_a_text_needs_no_sdk(both_ways: BothWays, body: Json):
    (chunk,) = both_ways.told(event(body)).chunks
    assert both_ways.by_sdk() == [False]
    assert plain_chunk(json.dumps(body).encode()) == chunk


@pytest.mark.parametrize(
    "body",
    [
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "ls"}}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "x", "thoughtSignature": "-_-_"}]}}]},
        {"candidates": [{"finishReason": "NEW"}]},
        {"candidates": [{"groundingMetadata": {}}]},
        {"candidates": [{}, {}]},
        {"usageMetadata": {"promptTokenCount": 2**60}},
        {"usageMetadata": {"promptTokenCount": "5"}},
        {"usageMetadata": {"prompt_token_count": 5}},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"error": {"code": 503}},
        {"new": 1},
        [],
        None,
    ],
)
def test_what_is_not_plain_is_the_sdks(body: Any):
    assert plain_chunk(json.dumps(body).encode()) is None


LARGE: Final = "a" * (LARGE_BYTES + 4 - LARGE_BYTES % 4)
SIGNED: Final[Json] = {"thoughtSignature": "+/+/aGk="}


@pytest.mark.parametrize("vertex", [False, True])
@pytest.mark.parametrize(
    ("part", "is_ours"),
    [
        ({"functionCall": {"name": "default_api.f", "args": {"a": LARGE, "b": [None, {"c": None}, -0.0]}}}, True),
        ({"functionCall": {"args": {"a": LARGE, "b": [2**63, 2**64, 10**30, 1e300]}, "id": "x"}, **SIGNED}, True),
        ({"functionCall": {"name": "f", "args": {LARGE: "é\u2028\U0001f600"}}, "text": "x"}, True),
        ({"functionCall": {}, "text": LARGE}, True),
        ({"inlineData": {"data": LARGE, "mimeType": "image/png", "displayName": "d"}}, True),
        ({"inlineData": {"data": LARGE, "mimeType": "image/png"}, "thought": True, **SIGNED}, True),
        ({"inlineData": {"data": LARGE[:-3] + "-_+"}}, False),
        ({"inlineData": {"data": LARGE[1:]}}, False),
        ({"functionCall": {"name": "f", "args": {"a": LARGE}, "willContinue": True}}, False),
        ({"functionCall": {"name": "f", "args": [LARGE]}}, False),
        ({"functionCall": {"name": "f", "args": {"a": json.loads("[" * 90 + "]" * 90), "b": LARGE}}}, True),
        ({"functionCall": {"name": "f", "args": {"a": json.loads("[" * 110 + "]" * 110), "b": LARGE}}}, False),
        ({"functionCall": {"name": "f", "args": {"a": "\ud800" + LARGE}}}, False),
        ({"functionResponse": {"name": "f", "response": {"a": LARGE}}}, False),
    ],
    ids=lambda value: str(value)[:50] if isinstance(value, dict) else None,
)
def test_a_large_event_is_told_as_the_sdk_tells_it(both_ways: BothWays, part: Json, is_ours: bool, vertex: bool):
    body = {"candidates": [{"content": {"parts": [{"text": "Here: "}, part], "role": "model"}, "finishReason": "STOP"}]}
    both_ways.told(event(body) + event(PIECE), cuts=[100_000, 900_000], vertex=vertex)
    assert both_ways.by_sdk(vertex=vertex)[:1] in ([not is_ours], [])


async def test_a_large_event_is_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch):
    threads: list[int] = []
    feed = EventLines.feed

    def watched(lines: EventLines, data: bytes) -> bytes:
        if data.endswith(b"\n"):
            threads.append(threading.get_ident())
        return feed(lines, data)

    monkeypatch.setattr(EventLines, "feed", watched)
    body = event({"candidates": [{"content": {"parts": [{"text": LARGE}]}}]})
    reader = Reader(GeminiOptions(api_key="k"))
    told = await reader.told(Stream([body[:-9], body[-9:], event(PIECE)]))
    await reader.close()
    assert [chunk.parts for chunk in told.chunks] == [({"text": LARGE},), ({"text": "Hi"},)]
    large, small = threads
    assert (large != threading.get_ident(), small) == (True, threading.get_ident())


async def chunks_of(*bodies: bytes) -> list[ModelChunk | bytes]:
    events = PlainEvents()
    lines = b"".join(b"data: " + body + b"\n\n" for body in bodies)
    return list(events.pieces(lines, is_end=True))


@pytest.mark.parametrize(("number", "reason"), [(1, "STOP"), (2, "MAX_TOKENS"), (0, None), (17, "17"), (-1, "-1")])
async def test_a_finish_reason_may_be_a_number(number: int, reason: str | None):
    call = {"functionCall": {"name": "ls", "args": {"a": 1}}}
    body = {"candidates": [{"content": {"parts": [{"text": "x"}, call]}, "finishReason": number}]}
    (chunk,) = await chunks_of(json.dumps(body).encode())
    assert isinstance(chunk, ModelChunk)
    assert (chunk.parts, chunk.finish_reason) == (({"text": "x"}, call), reason)


def part_with(text: str) -> bytes:
    """An event with a text, which is given as JSON has it."""
    return b'{"candidates": [{"content": {"parts": [{"text": "%s"}]}}]}' % text.encode()


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        ((r"a\ud83d", r"\ude00b"), "a😀b"),
        ((r"\uD83D", r"\uDE00"), "😀"),
        ((r"\ud83d\ude00\ud83d", r"\ude00", "c"), "😀😀c"),
        ((r"a\\ud83d", "b"), r"a\ud83db"),
        ((r"a\n\"\ud83d", r"\ude00"), 'a\n"😀'),
    ],
)
async def test_a_sign_whose_halves_come_in_two_events_is_whole(pieces: tuple[str, ...], whole: str):
    chunks = await chunks_of(*map(part_with, pieces))
    assert "".join(part["text"] for chunk in chunks if isinstance(chunk, ModelChunk) for part in chunk.parts) == whole
