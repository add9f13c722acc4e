"""Carrying bytes: nothing blocks the event loop, and nothing waits without a bound."""

from __future__ import annotations

import asyncio
import json
import os
import select
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest

from gemini_companion.protocol import transport as transport_module
from gemini_companion.protocol.frames import FrameFault, FrameParser, frame
from gemini_companion.protocol.transport import (
    CHUNK,
    READ_AHEAD,
    READ_NOTHING,
    PipeReader,
    PipeWriter,
    serve_connection,
    serve_stdio,
)
from tests.support.sample_server import SampleApp, create_sample_server
from tests.support.wire import PATIENCE


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    before = set(threading.enumerate())
    ends = os.pipe()
    yield ends
    for end in ends:
        shut(end)
    # One that came to its read or write only now would take or give the bytes of whoever has the number next.
    for thread in set(threading.enumerate()) - before:
        if thread.name in ("companion-read", "companion-write"):
            thread.join(PATIENCE)
            assert not thread.is_alive()
    for end in ends:
        os.close(end)


def shut(end: int) -> None:
    """Close one end of a pipe, and keep its number taken."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, end)
    os.close(nothing)


class Bytes:
    """A reader that has all its bytes at once, and a writer that keeps them."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = list(chunks)
        self.written = FrameParser()

    async def read(self, n: int, /) -> bytes:
        await asyncio.sleep(0)
        return self.chunks.pop(0) if self.chunks else b""

    def write(self, data: bytes) -> None:
        self.written.feed(data)

    def close(self) -> None:
        pass

    def messages(self) -> Iterator[dict[str, object]]:
        while (body := self.written.next()) is not None:
            assert not isinstance(body, FrameFault)
            yield json.loads(body)


def message(method: str, request_id: object = None, **params: object) -> bytes:
    body: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    return frame(json.dumps(body if request_id is None else body | {"id": request_id}).encode())


async def test_one_connection_is_served_from_its_first_byte_to_its_last():
    app = SampleApp()
    client = Bytes(
        message("initialize", 1, capabilities={}) + b"garbage",
        b"\r\n\r\nContent-Length: 3\r\n\r\n[1]",
        message("gemini/nothing", 2),
        message("exit"),
    )
    async with asyncio.timeout(PATIENCE):
        await serve_connection(create_sample_server(app).dispatcher, client, client)
    answers = [(answer["id"], "result" in answer) for answer in client.messages()]
    assert answers == [(1, True), (None, False), (None, False), (2, True)]
    assert app.closed == 1


async def test_nothing_after_exit_is_looked_at():
    app = SampleApp()
    client = Bytes(message("initialize", 1, capabilities={}) + message("exit") + message("gemini/notice", number=1))
    await serve_connection(create_sample_server(app).dispatcher, client, client)
    assert app.notices == []


async def test_handlers_get_their_turn_in_the_middle_of_a_flood():
    app = SampleApp()
    app.release.set()
    flood = b"".join(message("gemini/notice", number=number) for number in range(1000))
    client = Bytes(message("initialize", 1, capabilities={}) + message("gemini/echo", 2, sessionId="s") + flood)
    await serve_connection(create_sample_server(app).dispatcher, client, client)
    (_, echo) = client.messages()
    result = echo["result"]
    assert isinstance(result, dict)
    assert result["notices"] < 50
    assert len(app.notices) == 1000


async def test_two_connections_share_an_application_and_nothing_else():
    app = SampleApp()
    one = Bytes(message("initialize", 1, capabilities={}), message("gemini/notice", number=1), message("exit"))
    other = Bytes(
        message("initialize", 1, capabilities={}),
        *[b""] * 0,
        message("gemini/nothing", 2),
        message("gemini/nothing", 3),
    )
    await asyncio.gather(
        serve_connection(create_sample_server(app).dispatcher, one, one),
        serve_connection(create_sample_server(app).dispatcher, other, other),
    )
    assert [answer["id"] for answer in one.messages()] == [1]
    assert [answer["id"] for answer in other.messages()] == [1, 2, 3]
    assert app.closed == 2


async def test_a_reader_gives_the_bytes_in_order_and_then_the_end(pipe: tuple[int, int]):
    reader = PipeReader(pipe[0])
    os.write(pipe[1], b"one")
    assert await reader.read(CHUNK) == b"one"
    os.write(pipe[1], b"two")
    shut(pipe[1])
    assert await reader.read(CHUNK) == b"two"
    assert await reader.read(CHUNK) == b""


async def test_a_reader_that_is_stopped_ends_at_once_though_its_pipe_is_open(pipe: tuple[int, int]):
    reader = PipeReader(pipe[0])
    waiting = asyncio.create_task(reader.read(CHUNK))
    await asyncio.sleep(0)
    reader.stop()
    async with asyncio.timeout(PATIENCE):
        assert await waiting == b""
        assert await reader.read(CHUNK) == b""


async def test_a_reader_does_not_read_ahead_without_bound(pipe: tuple[int, int]):
    os.set_blocking(pipe[1], False)
    reader = PipeReader(pipe[0])
    bound = (READ_AHEAD + 1) * CHUNK + 2**20  # what it holds, and what the pipe does
    sent = refused = 0
    while refused < 200 and sent <= bound:
        written = await asyncio.to_thread(write_some, pipe[1])
        sent += written
        refused = 0 if written else refused + 1
    assert sent <= bound
    received = 0
    async with asyncio.timeout(PATIENCE):
        while received < sent:
            received += len(await reader.read(CHUNK))


def write_some(fd: int) -> int:
    try:
        return os.write(fd, b"x" * CHUNK)
    except BlockingIOError:
        return 0


class Stopwatch:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@asynccontextmanager
async def writing(
    fd: int, max_backlog: int = 10_000, watch: Stopwatch | None = None
) -> AsyncGenerator[tuple[PipeWriter, asyncio.Event]]:
    broken = asyncio.Event()
    writer = PipeWriter(fd, on_broken=broken.set, max_backlog=max_backlog, monotonic=watch or Stopwatch())
    yield writer, broken
    writer.close()


async def test_a_writer_writes_in_order_and_all_of_it_before_it_closes(pipe: tuple[int, int]):
    async with writing(pipe[1]) as (writer, _):
        for number in range(100):
            writer.write(b"%d " % number)
        await writer.flush_and_close()
        writer.write(b"too late")
    assert os.read(pipe[0], CHUNK).split() == [b"%d" % number for number in range(100)]


async def full(fd: int) -> None:
    """Wait until the pipe takes nothing more: what has been read of it since is all that moves."""
    async with asyncio.timeout(PATIENCE):
        while select.select([], [fd], [], 0)[1]:
            await asyncio.sleep(0)


async def test_a_client_that_reads_nothing_stops_nobody_and_is_given_up_after_a_time(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport_module, "FLUSH_TIMEOUT", 0.01)
    watch = Stopwatch()
    async with writing(pipe[1], 2**20, watch) as (writer, broken):
        writer.write(b"x" * 2**22)  # a single message may be larger than the backlog
        await full(pipe[1])
        writer.write(b"one more")
        assert not broken.is_set(), "it may just be busy"
        watch.seconds += READ_NOTHING + 1
        writer.write(b"too much")
        assert broken.is_set()
        await writer.flush_and_close()
        left = 2**22  # what was under way goes out, if it is read after all; nothing else does
        while left:
            left -= len(await asyncio.to_thread(os.read, pipe[0], 2**20))


async def test_a_client_that_reads_slowly_gets_an_answer_larger_than_the_backlog_and_all_that_follows(
    pipe: tuple[int, int],
):
    watch = Stopwatch()
    async with writing(pipe[1], 2**20, watch) as (writer, broken):
        writer.write(b"x" * 2**22)
        received = 0
        async with asyncio.timeout(PATIENCE):
            for _ in range(10):
                await full(pipe[1])
                watch.seconds += READ_NOTHING + 1
                before = writer.backlog
                while writer.backlog == before:  # the thread comes to its next write with what was read
                    received += len(os.read(pipe[0], CHUNK))
                    await asyncio.sleep(0)
                writer.write(b"a delta")
                assert not broken.is_set()
            while received < 2**22 + 10 * len(b"a delta"):
                received += len(await asyncio.to_thread(os.read, pipe[0], 2**20))


async def test_what_waits_behind_the_answer_that_a_slow_client_reads_has_a_bound(pipe: tuple[int, int]):
    broken = asyncio.Event()
    writer = PipeWriter(pipe[1], on_broken=broken.set, max_backlog=2**20, max_behind=CHUNK, monotonic=Stopwatch())
    answer, delta = b"x" * 2**22, b"d" * 2**10
    writer.write(answer)
    await full(pipe[1])
    received = said = 0
    async with asyncio.timeout(PATIENCE):
        while not broken.is_set():  # it goes on reading, and more is said than it reads
            received += len(os.read(pipe[0], 2**12))
            for _ in range(8):
                writer.write(delta)
                said += len(delta)
            await asyncio.sleep(0)
        assert received < len(answer), "it was still at the answer"
        assert CHUNK < said <= CHUNK + 9 * len(delta), "what came behind is what counts"
        while received < len(answer):
            received += len(await asyncio.to_thread(os.read, pipe[0], 2**20))
        await writer.flush_and_close()
    assert received == len(answer), "what waited behind it is gone, and what was under way is whole"


async def test_messages_that_wait_together_are_read_together_and_none_is_cut(pipe: tuple[int, int]):
    sizes = [10, CHUNK - 20, 30, 2 * CHUNK, 5, 5]
    async with writing(pipe[1], 2**20) as (writer, _):
        writer.write(b"0" * 2**20)
        await full(pipe[1])  # what comes now waits
        for number, size in enumerate(sizes, 1):
            writer.write(b"%d" % number * size)
        received = bytearray()
        while len(received) < 2**20 + sum(sizes):
            received += await asyncio.to_thread(os.read, pipe[0], 2**16)
    assert received[2**20 :] == b"".join(b"%d" % number * size for number, size in enumerate(sizes, 1))


async def test_a_slow_client_holds_up_no_other(pipe: tuple[int, int]):
    other = os.pipe()
    async with writing(pipe[1], 2**20) as (slow, _), writing(other[1], 2**20) as (quick, broken):
        slow.write(b"x" * 2**20)
        await full(pipe[1])
        for number in range(1_000):
            for writer in (slow, quick):
                writer.write(b"%4d" % number)
        received = b""
        async with asyncio.timeout(PATIENCE):
            while len(received) < 4_000:
                received += await asyncio.to_thread(os.read, other[0], CHUNK)
        assert received == b"".join(b"%4d" % number for number in range(1_000))
        assert slow.backlog > 4_000
        assert not broken.is_set()
        left = 2**20 + 4_000
        while left:
            left -= len(await asyncio.to_thread(os.read, pipe[0], CHUNK))
    for fd in other:
        os.close(fd)


async def test_a_client_that_was_idle_for_long_is_not_given_up_for_that(pipe: tuple[int, int]):
    watch = Stopwatch()
    async with writing(pipe[1], 2**20, watch) as (writer, broken):
        watch.seconds += READ_NOTHING + 1
        writer.write(b"x" * 2**21)
        writer.write(b"one more")
        assert not broken.is_set()
        left = 2**21 + len(b"one more")
        while left:
            left -= len(await asyncio.to_thread(os.read, pipe[0], 2**20))


async def test_a_client_that_is_gone_breaks_the_connection(pipe: tuple[int, int]):
    shut(pipe[0])
    async with writing(pipe[1]) as (writer, broken), asyncio.timeout(PATIENCE):
        writer.write(b"x")
        await broken.wait()
        writer.write(b"y")
        await writer.flush_and_close()


@pytest.mark.parametrize("bounds", [{"MAX_BACKLOG": 100_000, "READ_NOTHING": 0.0}, {"MAX_BEHIND": 100_000}])
async def test_a_server_whose_client_does_not_read_closes_in_order(
    bounds: dict[str, float], pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
):
    for name, value in bounds.items():
        monkeypatch.setattr(transport_module, name, value)
    monkeypatch.setattr(transport_module, "FLUSH_TIMEOUT", 0.01)
    app = SampleApp()
    from_client, to_server = os.pipe()
    os.write(to_server, message("initialize", 1, capabilities={}) + message("sample/flood", 2, name="1000"))
    async with asyncio.timeout(PATIENCE):
        code = await serve_stdio(create_sample_server(app).dispatcher, from_client, pipe[1])
    assert (code, app.closed) == (0, 1)
    os.close(to_server)
    shut(pipe[0])  # ends the writer's thread
