"""Streams as proxies pass them on, and answers that never end: what is read of them, and when that stops."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.adapters.gemini.event_stream import EventLines
from gemini_companion.engine.errors import ModelUnavailable, TokenCountFailed
from gemini_companion.sessions.models.port import ModelChunk
from tests.adapters.gemini.calls import HI, collect
from tests.support.emulator import Emulator, Reply, Trickle
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("bounded")


def event(text: str, finish: str | None = None) -> bytes:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}}
    if finish:
        candidate["finishReason"] = finish
    return b"data: " + json.dumps({"candidates": [candidate]}).encode() + b"\n\n"


def text_of(chunks: list[ModelChunk]) -> str:
    return "".join(part["text"] for chunk in chunks for part in chunk.parts)


LIMIT_MS = 3_000


@pytest.fixture
async def impatient(emulator: Emulator) -> AsyncIterator[GeminiProvider]:
    """Its limit on silence is far off; that on the whole answer is near, and not so near that a busy machine meets it."""
    client = GeminiProvider(
        GeminiOptions(api_key="k", base_url=emulator.base_url, timeout_ms=LIMIT_MS, after_finish_ms=300)
    )
    await client.warm_up()
    yield client
    await client.close()


HELLO = event("Hel") + event("lo", "STOP")


@pytest.mark.parametrize(
    "stream",
    [
        b": ping\n\n" + HELLO,
        event("Hel") + b": ping\r\n\r\n:\r\n" + event("lo", "STOP"),
        b":\n:{}\n" + HELLO,
        HELLO + b"data: [DONE]\n\n",
        HELLO + b"data:[DONE]",
        HELLO + b"data: [DONE]\n\ndata: {broken\n\n",
        b"event: message\nid: 7\nretry: 100\n" + HELLO + b"event: done\ndata:\n\n",
        b"id\n" + HELLO + b"data: \n\ndata\n\n",
        HELLO.replace(b"data: ", b"data:"),
        HELLO.replace(b"\n", b"\r"),
        HELLO.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + HELLO,
        HELLO.rstrip(),
        b"\n\n\n" + HELLO + b"\n\n",
    ],
    ids=repr,
)
async def test_comments_other_fields_and_the_mark_of_the_end_are_no_part_of_an_answer(
    emulator: Emulator, gemini: GeminiProvider, stream: bytes
):
    bytewise = tuple(bytes([byte]) for byte in stream)
    emulator.script(Reply(steps=(stream,)), Reply(steps=bytewise))
    for _ in range(2):
        chunks = await collect(gemini)
        assert (text_of(chunks), chunks[-1].finish_reason) == ("Hello", "STOP")


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085"])
async def test_a_character_that_unicode_calls_a_line_end_does_not_break_an_answer(
    emulator: Emulator, gemini: GeminiProvider, character: str
):
    raw = event("a?b", "STOP").replace(b"?", character.encode())
    emulator.script(Reply(steps=(raw,)))
    assert text_of(await collect(gemini)) == f"a{character}b"


async def test_an_error_as_bare_json_in_a_stream_is_still_an_error(emulator: Emulator, gemini: GeminiProvider):
    error = json.dumps({"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}, indent=2)
    emulator.script(Reply(steps=(event("Hel"), error.encode())))
    with pytest.raises(ModelUnavailable, match="Overloaded"):
        await collect(gemini)


async def test_after_the_mark_of_the_end_nobody_waits_for_the_connection_to_close(
    emulator: Emulator, gemini: GeminiProvider
):
    emulator.script(Reply(steps=(HELLO + b"data: [DONE]\n\n", Trickle(b": ping\n\n"))))
    assert text_of(await collect(gemini)) == "Hello"


async def test_usage_that_comes_after_the_finish_reason_counts(emulator: Emulator, gemini: GeminiProvider):
    usage = b'data: {"usageMetadata": {"promptTokenCount": 7}}\n\n'
    emulator.script(Reply(steps=(HELLO, usage)))
    last = (await collect(gemini))[-1]
    assert last.usage is not None
    assert last.usage.prompt_tokens == 7


@given(
    st.lists(st.sampled_from([b": x", b"event: y", b"data: {}", b'data: {"a": 1}', b"data: [DONE]", b"", b"{", b"z"])),
    st.lists(st.integers(0, 40)),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_where_a_stream_is_cut_into_pieces_changes_nothing(lines: list[bytes], cuts: list[int], end: bytes):
    stream = end.join(lines)
    at = sorted({min(cut, len(stream)) for cut in cuts})
    whole, pieces = EventLines(), EventLines()
    expected = whole.feed(stream) + whole.rest()
    borders = zip([0, *at], [*at, len(stream)], strict=True)
    assert b"".join(pieces.feed(stream[start:stop]) for start, stop in borders) + pieces.rest() == expected


# --- answers without end


async def _read(client: GeminiProvider, seen: list[ModelChunk]) -> None:
    """What comes is in `seen`, whatever ends it."""
    async for chunk in client.stream(HI):
        seen.append(chunk)  # noqa: PERF401


@pytest.mark.parametrize("method", ["stream", "generate", "count_tokens"])
async def test_an_answer_that_trickles_is_ended_by_its_limit_as_a_whole(emulator: Emulator, method: str):
    client = GeminiProvider(GeminiOptions(api_key="k", base_url=emulator.base_url, timeout_ms=300, idle_timeout_ms=300))
    dripping = Reply(steps=(Trickle(b": ping\n\n" if method == "stream" else b" "),))
    emulator.script(dripping, method="countTokens" if method == "count_tokens" else None)
    with pytest.raises((ModelUnavailable, TokenCountFailed), match="too long") as caught:
        await (collect(client) if method == "stream" else getattr(client, method)(HI))
    assert caught.value.retryable
    await emulator.wait_for_hang_up(await emulator.wait_for_request())
    await client.close()


async def test_comments_alone_do_not_keep_a_stream_alive(emulator: Emulator, impatient: GeminiProvider):
    emulator.script(Reply(steps=(event("Hel"), Trickle(b": ping\n\n"))))
    seen: list[ModelChunk] = []
    with pytest.raises(ModelUnavailable, match="too long"):
        await _read(impatient, seen)
    assert text_of(seen) == "Hel"


async def test_a_stream_that_answers_all_the_time_has_no_limit_as_a_whole(
    emulator: Emulator, impatient: GeminiProvider
):
    emulator.script(Reply(steps=(Trickle(event("x")),)))
    stream, loop = impatient.stream(HI), asyncio.get_running_loop()
    begun = loop.time()
    async for _ in stream:
        if loop.time() - begun > 1.5 * LIMIT_MS / 1_000:
            break
    await stream.aclose()  # type: ignore[attr-defined]


async def test_the_end_of_a_whole_answer_is_waited_for_only_briefly(emulator: Emulator, impatient: GeminiProvider):
    emulator.script(Reply(steps=(HELLO, Trickle(b": ping\n\n"))))
    seen: list[ModelChunk] = []
    with pytest.raises(ModelUnavailable):
        await _read(impatient, seen)
    assert (text_of(seen), seen[-1].finish_reason) == ("Hello", "STOP")


# --- packed answers


def packed(data: bytes, encoding: str) -> bytes:
    return gzip.compress(data) if encoding == "gzip" else zlib.compress(data)


def bomb(encoding: str, megabytes: int) -> bytes:
    packer = zlib.compressobj(1, wbits=31 if encoding == "gzip" else 15)
    blanks = b" " * 1024**2
    return b"".join([packer.compress(b"{"), *(packer.compress(blanks) for _ in range(megabytes)), packer.flush()])


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_packed_answer_is_read(emulator: Emulator, gemini: GeminiProvider, encoding: str):
    events = {"content-type": "text/event-stream", "content-encoding": encoding}
    at_once = HELLO.split(b"\n\n")[1].removeprefix(b"data: ")
    emulator.script(
        Reply(body=packed(HELLO, encoding), headers=events),
        Reply(body=packed(at_once, encoding), headers={"content-encoding": encoding}),
    )
    assert text_of(await collect(gemini)) == "Hello"
    assert text_of([await gemini.generate(HI)]) == "lo"


@pytest.mark.parametrize("method", ["stream", "generate"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_the_bound_counts_what_is_unpacked_and_memory_stays_flat(
    emulator: Emulator, gemini: GeminiProvider, monkeypatch: pytest.MonkeyPatch, encoding: str, method: str
):
    await gemini.warm_up()
    monkeypatch.setattr("gemini_companion.adapters.gemini.transport.MAX_ANSWER_BYTES", 4 * 1024**2)
    body = bomb(encoding, 128)
    emulator.script(Reply(body=body, headers={"content-encoding": encoding, "content-type": "text/event-stream"}))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with pytest.raises(ModelUnavailable, match="larger than") as caught:
            await (collect(gemini) if method == "stream" else gemini.generate(HI))
        grown = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert not caught.value.retryable
    assert grown < 24 * 1024**2, "of 128 MB"


async def test_bytes_that_unpack_to_nothing_are_bounded_too(
    emulator: Emulator, gemini: GeminiProvider, monkeypatch: pytest.MonkeyPatch
):
    await gemini.warm_up()
    monkeypatch.setattr("gemini_companion.adapters.gemini.transport.MAX_ANSWER_BYTES", 100_000)
    packer = zlib.compressobj(wbits=31)
    nothing = b"".join(packer.flush(zlib.Z_FULL_FLUSH) + packer.compress(b"") for _ in range(10))
    headers = {"content-encoding": "gzip", "content-type": "text/event-stream"}
    emulator.script(
        Reply(steps=(packer.compress(b"") + nothing, Trickle(b"\x00\x00\x00\xff\xff" * 4_000)), headers=headers)
    )
    with pytest.raises(ModelUnavailable, match="larger than"):
        await asyncio.wait_for(collect(gemini), PATIENCE)


async def test_packed_parts_one_after_another_are_read_and_what_follows_them_is_not(
    emulator: Emulator, gemini: GeminiProvider
):
    headers = {"content-encoding": "gzip", "content-type": "text/event-stream"}
    parts = gzip.compress(HELLO[:40]) + gzip.compress(HELLO[40:])
    emulator.script(
        Reply(body=parts, headers=headers),
        Reply(body=parts + b"junk " * 1_000_000, headers=headers),
        Reply(body=gzip.compress(b"") * 1_000, headers=headers),
    )
    for _ in range(2):
        assert text_of(await collect(gemini)) == "Hello"
    with pytest.raises(ModelUnavailable):
        await collect(gemini)


async def test_the_connection_of_a_stream_that_an_error_ends_is_closed_at_once(
    emulator: Emulator, gemini: GeminiProvider
):
    error = b'data: {"error": {"code": 500, "status": "INTERNAL", "message": "no"}}\n\n'
    emulator.script(Reply(steps=(error, Trickle(b": ping\n\n"))))
    gc.disable()  # which would close it some time
    try:
        with pytest.raises(ModelUnavailable):
            await collect(gemini)
        await emulator.wait_for_hang_up(emulator.requests[-1])
    finally:
        gc.enable()


async def test_an_encoding_that_was_not_asked_for_is_a_fault_and_no_answer(emulator: Emulator, gemini: GeminiProvider):
    for encoding in ("gzip", "br", "zstd", "gzip, gzip"):
        headers = {"content-encoding": encoding, "content-type": "text/event-stream"}
        emulator.script(Reply(body=b"not packed at all", headers=headers))
        with pytest.raises(ModelUnavailable):
            await collect(gemini)
