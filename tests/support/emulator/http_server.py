"""A small HTTP/1.1 server on loopback, in a thread with its own event loop, that notices when a client hangs up."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus

from tests.support.patience import PATIENCE

LARGEST_BODY = 256 * 1024 * 1024


@dataclass(frozen=True)
class HttpRequest:
    """One request; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """The answer to one request, as it is being written."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.gone = False
        """True once the client has hung up before the answer was complete."""
        self.dropped = False

    async def reply(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Answer at once, with JSON unless `headers` say otherwise."""
        await self._write(
            _head(status, {"content-type": "application/json", **(headers or {}), "content-length": str(len(body))})
            + body
        )

    async def begin_events(self, headers: Mapping[str, str] | None = None) -> None:
        """Start a stream of server-sent events."""
        await self._write(
            _head(200, {"content-type": "text/event-stream", **(headers or {}), "transfer-encoding": "chunked"})
        )

    async def send(self, data: bytes) -> None:
        """Send one piece of a stream at once."""
        await self._write(b"%x\r\n%s\r\n" % (len(data), data))

    async def send_plain(self, data: bytes) -> None:
        """Send a piece of a body whose size was promised."""
        await self._write(data)

    async def end(self) -> None:
        """Complete a stream."""
        await self._write(b"0\r\n\r\n")

    async def promise(self, size: int, data: bytes) -> None:
        """Announce a body of `size` bytes and send only `data` of it."""
        await self._write(_head(200, {"content-type": "application/json", "content-length": str(size)}) + data)

    def drop(self) -> None:
        """Close the connection without completing the answer."""
        self.dropped = True

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


Handler = Callable[[HttpRequest, Exchange], Awaitable[None]]


class LoopbackServer:
    """Serves `handle` on 127.0.0.1 until stopped. A request whose client hangs up is cancelled, with `gone` set."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._transports: weakref.WeakSet[asyncio.WriteTransport] = weakref.WeakSet()
        self.port = 0

    def start(self, port: int = 0) -> None:
        """Listen on `port`, or on a free one."""
        ready: Future[int] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._main(port, ready)), name="gemini-emulator", daemon=True
        )
        self._thread.start()
        self.port = ready.result(timeout=PATIENCE)

    def stop(self) -> None:
        """End every connection and the thread."""
        if self._loop is not None and self._stopping is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(timeout=PATIENCE)
            self._loop = self._stopping = self._thread = None

    async def _main(self, port: int, ready: Future[int]) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await asyncio.start_server(self._connected, "127.0.0.1", port)
        except OSError as error:
            ready.set_exception(error)
            return
        ready.set_result(server.sockets[0].getsockname()[1])
        await self._stopping.wait()
        for listener in server.sockets:  # closed later: asyncio leaves open what it has not yet accepted then
            self._loop.remove_reader(listener.fileno())
        for connection in self._connections:
            connection.cancel()
        while left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left)
        server.close()
        for transport in self._transports:
            transport.abort()  # one that has data left for a client which reads no more would stay open
        await asyncio.sleep(0)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Known before its task begins: one that is cancelled ahead of that closes nothing itself.
        self._transports.add(writer.transport)
        if self._stopping is None or self._stopping.is_set():
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            wire = _Wire(reader)
            while (request := await wire.request()) is not None:
                if not await self._exchange(request, wire, Exchange(writer)):
                    return
        except (ConnectionError, asyncio.CancelledError):
            return  # hung up, or the server is being stopped
        finally:
            writer.close()

    async def _exchange(self, request: HttpRequest, wire: _Wire, exchange: Exchange) -> bool:
        """Answer one request; False if the connection cannot be used again."""
        answering = asyncio.ensure_future(self._handle(request, exchange))
        watching = asyncio.create_task(wire.until_hung_up())
        try:
            await asyncio.wait((answering, watching), return_when=asyncio.FIRST_COMPLETED)
            exchange.gone = not answering.done()
        finally:
            answering.cancel()
            watching.cancel()
            await asyncio.wait((answering, watching))
        if not answering.cancelled():
            answering.result()
        return not (exchange.gone or exchange.dropped)


class _Wire:
    """Reads requests, and goes on reading while one is being answered, which is how a hang-up is noticed."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._buffer = bytearray()

    async def until_hung_up(self) -> None:
        while data := await self._reader.read(65536):
            self._buffer += data

    async def request(self) -> HttpRequest | None:
        """The next request, or `None` at the end."""
        if (head := await self._take_until(b"\r\n\r\n")) is None:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await self._take(min(int(headers.get("content-length", "0")), LARGEST_BODY))
        return HttpRequest(method, target, headers, body) if body is not None else None

    async def _take_until(self, end: bytes) -> bytes | None:
        while (at := self._buffer.find(end)) < 0:
            if not await self._fill():
                return None
        taken = bytes(self._buffer[:at])
        del self._buffer[: at + len(end)]
        return taken

    async def _take(self, size: int) -> bytes | None:
        while len(self._buffer) < size:
            if not await self._fill():
                return None
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def _fill(self) -> bool:
        data = await self._reader.read(1 << 20)
        self._buffer += data
        return bool(data)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
