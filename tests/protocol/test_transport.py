"""Carrying bytes: nothing blocks the event loop, and nothing waits without a bound."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest

from gemini_companion.protocol import transport as transport_module
from gemini_companion.protocol.frames import FrameFault, FrameParser, frame
from gemini_companion.protocol.transport import CHUNK, READ_AHEAD, PipeReader, PipeWriter, serve_connection, serve_stdio
from tests.support.sample_server import SampleApp, create_sample_server
from tests.support.wire import PATIENCE


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    before = set(threading.enumerate())
    ends = os.pipe()
    yield ends
    close(ends[1])
    for thread in (
        set(threading.enumerate()) - before
    ):  # one that came to its read only now would take the next test's bytes
        if thread.name == "companion-read":
            thread.join(PATIENCE)
    close(ends[0])


def close(fd: int) -> None:
    with suppress(OSError):
        os.close(fd)


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
    os.close(pipe[1])
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


@asynccontextmanager
async def writing(fd: int, max_backlog: int = 10_000) -> AsyncGenerator[tuple[PipeWriter, asyncio.Event]]:
    broken = asyncio.Event()
    writer = PipeWriter(fd, on_broken=broken.set, max_backlog=max_backlog)
    yield writer, broken
    writer.close()


async def test_a_writer_writes_in_order_and_all_of_it_before_it_closes(pipe: tuple[int, int]):
    async with writing(pipe[1]) as (writer, _):
        for number in range(100):
            writer.write(b"%d " % number)
        await writer.flush_and_close()
        writer.write(b"too late")
    assert os.read(pipe[0], CHUNK).split() == [b"%d" % number for number in range(100)]


async def test_a_client_that_does_not_read_stops_nobody_and_is_given_up(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport_module, "FLUSH_TIMEOUT", 0.01)
    async with writing(pipe[1], max_backlog=2**20) as (writer, broken):
        writer.write(b"x" * 2**22)  # a single message may be larger than the backlog
        assert not broken.is_set()
        assert writer.backlog > 2**20
        writer.write(b"one more")
        assert broken.is_set()
        await writer.flush_and_close()
        left = 2**22
        while left:  # let its thread go
            left -= len(await asyncio.to_thread(os.read, pipe[0], 2**20))


async def test_a_client_that_is_gone_breaks_the_connection(pipe: tuple[int, int]):
    os.close(pipe[0])
    async with writing(pipe[1]) as (writer, broken), asyncio.timeout(PATIENCE):
        writer.write(b"x")
        await broken.wait()
        writer.write(b"y")
        await writer.flush_and_close()


async def test_a_server_whose_client_does_not_read_closes_in_order(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport_module, "MAX_BACKLOG", 100_000)
    monkeypatch.setattr(transport_module, "FLUSH_TIMEOUT", 0.01)
    app = SampleApp()
    from_client, to_server = os.pipe()
    os.write(to_server, message("initialize", 1, capabilities={}) + message("sample/flood", 2, name="1000"))
    async with asyncio.timeout(PATIENCE):
        code = await serve_stdio(create_sample_server(app).dispatcher, from_client, pipe[1])
    assert (code, app.closed) == (0, 1)
    os.close(to_server)
    os.close(pipe[0])  # ends the writer's thread
