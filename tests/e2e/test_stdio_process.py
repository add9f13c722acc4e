"""The process itself: how it starts, what reaches its standard streams, how it ends."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support import sample_server
from tests.support.patience import PATIENCE
from tests.support.wire import ProcessClient


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    """The server writes here once it was closed in order."""
    return tmp_path / "closed"


@pytest.fixture
async def process(witness: Path) -> AsyncIterator[ProcessClient]:
    client = await ProcessClient.start(sample_server.__file__, str(witness))
    yield client
    await client.stop()


def closed_in_order(witness: Path) -> bool:
    return witness.exists()


async def test_a_session_from_initialize_to_exit(process: ProcessClient, witness: Path):
    await process.initialize()
    answer = await process.request("gemini/echo", {"sessionId": "s", "parts": [{"text": "hé 😀"}]})
    assert answer["result"]["texts"] == ["hé 😀"]
    assert (await process.request("shutdown"))["result"] is None
    process.send({"jsonrpc": "2.0", "method": "exit"})
    assert await process.ended() == 0
    assert closed_in_order(witness)
    assert await process.stdout.read() == b""


async def test_exit_without_shutdown_shows_in_the_exit_code(process: ProcessClient, witness: Path):
    await process.initialize()
    process.send({"jsonrpc": "2.0", "method": "exit"})
    assert await process.ended() == 1
    assert closed_in_order(witness)


async def test_the_end_of_input_ends_it_in_order_with_handlers_in_flight(process: ProcessClient, witness: Path):
    await process.initialize()
    process.send({"jsonrpc": "2.0", "id": 1, "method": "sample/wait", "params": {}})
    await process.request("gemini/nothing", {}, 2)
    process.stdin.close()
    assert (await process.receive())["error"]["code"] == -32800
    assert await process.ended() == 0
    assert closed_in_order(witness)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
async def test_a_signal_ends_it_in_order_though_stdin_is_open(process: ProcessClient, witness: Path, name: str):
    await process.initialize()
    process.send({"jsonrpc": "2.0", "id": 1, "method": "sample/wait", "params": {}})
    await process.request("gemini/nothing", {}, 2)
    process.process.send_signal(getattr(signal, name))
    assert await process.ended() == 0
    assert closed_in_order(witness)
    assert await process.stderr.read() == b""


async def test_a_handler_that_cannot_be_stopped_does_not_keep_the_process(process: ProcessClient, witness: Path):
    await process.initialize()
    process.send({"jsonrpc": "2.0", "id": 1, "method": "sample/shielded", "params": {}})
    await process.request("gemini/nothing", {}, 2)
    process.stdin.close()
    assert await process.ended() == 0
    assert closed_in_order(witness)


async def test_a_client_that_vanishes_ends_it_in_order(process: ProcessClient, witness: Path):
    await process.initialize()
    process.stop_reading()
    for number in range(50):
        process.send({"jsonrpc": "2.0", "id": number, "method": "gemini/nothing"})
    assert await process.ended() == 0
    assert closed_in_order(witness)


async def test_what_is_printed_lands_on_stderr_and_a_child_finds_stdin_empty(process: ProcessClient):
    await process.initialize()
    assert (await process.request("sample/stray", {"name": "child ended with"}))["result"] == "child ended with 0"
    assert (await process.request("gemini/nothing"))["result"] is None
    process.stdin.close()
    assert await process.ended() == 0
    assert (await process.stderr.read()).split(b"\n")[:2] == [b"a careless library prints", b"child"]


async def test_a_stalled_client_does_not_stall_the_server(process: ProcessClient):
    """5 MB wait for a client that reads nothing, and what it sends is still taken: the file is written before it reads
    a byte.
    """
    await process.initialize()
    process.send({"jsonrpc": "2.0", "id": 1, "method": "sample/flood", "params": {"name": "500"}})
    process.send({"jsonrpc": "2.0", "id": 2, "method": "gemini/nothing"})
    process.send({"jsonrpc": "2.0", "id": 3, "method": "shutdown"})
    process.send({"jsonrpc": "2.0", "method": "exit"})
    deltas, answered = 0, set[object]()
    while len(answered) < 3:
        message = await process.receive()
        deltas += message.get("method") == "sample/delta"
        answered |= {message["id"]} if "method" not in message else set()
    assert answered == {1, 2, 3}
    assert await process.ended() == 0


async def test_messages_of_a_megabyte_go_both_ways(process: ProcessClient):
    await process.initialize()
    parts = [{"text": "ü" * 1000} for _ in range(1000)]
    answer = await process.request("gemini/echo", {"sessionId": "s", "parts": parts})
    assert answer["result"]["texts"] == [part["text"] for part in parts]


async def test_a_message_over_the_limit_is_refused_and_the_connection_goes_on(process: ProcessClient):
    await process.initialize()
    size = 64 * 2**20 + 1
    process.send(b"Content-Length: %d\r\n\r\n" % size)
    refused = await process.receive()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    chunk = b"x" * 2**20
    async with asyncio.timeout(PATIENCE):
        for _ in range(64):
            process.send(chunk)
            await process.stdin.drain()
    process.send(b"x")
    assert (await process.request("gemini/nothing"))["result"] is None


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs to close a descriptor before the start")
async def test_it_starts_without_a_stderr(tmp_path: Path):
    starter = tmp_path / "start.py"
    starter.write_text(
        f"import os, sys\nos.close(2)\nos.execv(sys.executable, [sys.executable, {sample_server.__file__!r}])\n",
        encoding="utf-8",
    )
    client = await ProcessClient.start(str(starter))
    try:
        await client.initialize()
        assert "result" in await client.request("sample/stray", {"name": "x"})
    finally:
        await client.stop()
