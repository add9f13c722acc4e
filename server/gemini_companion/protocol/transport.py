"""Bytes between a client and a dispatcher: the loop over any connection, and stdio.

Nothing here blocks the event loop: a thread reads, another writes, and what waits in between is bounded in both
directions. Only this module writes to the process's standard output.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Final, Protocol

from gemini_companion.protocol.frames import FrameFault, FrameParser

logger = logging.getLogger(__name__)

CHUNK: Final = 64 * 2**10
"""Bytes read at once."""
READ_AHEAD: Final = 16
"""Chunks that may wait for the event loop before reading pauses."""
MAX_BACKLOG: Final = 64 * 2**20
"""Bytes that may wait for a client that reads nothing."""
READ_NOTHING: Final = 30.0
"""Seconds after which a client that has read nothing is given up, if more than `MAX_BACKLOG` waits for it."""
MAX_BEHIND: Final = 256 * 2**20
"""Bytes that may wait behind what a client is reading, however it reads; one that has more to come is given up."""
FLUSH_TIMEOUT: Final = 2.0
"""Seconds for the last bytes to leave."""
EXIT_GRACE: Final = 2.0
"""Seconds for tasks and threads that nobody could stop, once all else is closed; then the process ends without them."""
MESSAGES_IN_A_ROW: Final = 16
"""Messages taken before handlers get their turn."""

_ENDING: Final = (
    (signal.SIGINT, signal.SIGTERM) if sys.platform == "win32" else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
)


class ByteReader(Protocol):
    """Where a connection's bytes come from; an `asyncio.StreamReader` is one."""

    async def read(self, n: int, /) -> bytes:
        """Some bytes, at most `n`; none at the end."""
        ...


class ByteWriter(Protocol):
    """Where they go. `write` never waits."""

    def write(self, data: bytes) -> None:
        """Queue bytes."""
        ...

    def close(self) -> None:
        """Take no more."""
        ...


class Endpoint(Protocol):
    """What takes one client's messages; a `Dispatcher` is one."""

    @property
    def has_exited(self) -> bool:
        """True once the client has sent `exit`."""
        ...

    @property
    def exit_code(self) -> int:
        """The exit code of a process that served this client alone."""
        ...

    def set_writer(self, writer: ByteWriter) -> None:
        """Send what is sent from now on there."""
        ...

    def receive(self, body: bytes) -> None:
        """Take one message's body. Never raises."""
        ...

    def refuse_frame(self, reason: str) -> None:
        """Answer to bytes that are no message."""
        ...

    async def close(self) -> None:
        """The client has left."""
        ...


async def serve_connection(endpoint: Endpoint, reader: ByteReader, writer: ByteWriter) -> None:
    """Carry one client's messages until it sends `exit` or its bytes end, then close the endpoint. The writer
    stays open.
    """
    endpoint.set_writer(writer)
    parser = FrameParser()
    taken = 0
    try:
        while not endpoint.has_exited and (data := await reader.read(CHUNK)):
            parser.feed(data)
            while not endpoint.has_exited and (frame := parser.next()) is not None:
                if isinstance(frame, FrameFault):
                    endpoint.refuse_frame(frame.reason)
                else:
                    endpoint.receive(frame)
                taken += 1
                if taken % MESSAGES_IN_A_ROW == 0:
                    await asyncio.sleep(0)
    finally:
        await endpoint.close()


async def serve_stdio(endpoint: Endpoint, read_fd: int, write_fd: int) -> int:
    """Serve the one client at the other end of two file descriptors until it leaves, stops reading, or a signal comes.
    Returns the exit code.

    SIGTERM and SIGINT end it like the end of input: handlers are cancelled, the application is closed, what is queued
    is written.
    """
    reader = PipeReader(read_fd)
    writer = PipeWriter(write_fd, on_broken=reader.stop, max_backlog=MAX_BACKLOG, max_behind=MAX_BEHIND)
    with _stopped_by_signals(reader.stop):
        try:
            await serve_connection(endpoint, reader, writer)
        finally:
            await writer.flush_and_close()
    return endpoint.exit_code


def run_stdio(create_endpoint: Callable[[], Endpoint]) -> int:
    """Claim the standard streams, then make an endpoint and serve it over them. Returns the exit code."""
    read_fd, write_fd = claim_stdio()

    async def serve() -> int:
        code = await serve_stdio(create_endpoint(), read_fd, write_fd)
        last_resort = threading.Timer(EXIT_GRACE, os._exit, (code,))
        last_resort.daemon = True
        last_resort.start()
        return code

    return asyncio.run(serve())


def claim_stdio() -> tuple[int, int]:
    """Take stdin and stdout for the protocol alone; returns the descriptors to use from here on.

    A stray `print`, of ours, a library's or a child process's, lands on stderr, and a child that reads stdin finds it
    empty. Call it before anything that might print is imported.
    """
    while (nowhere := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # started without one of the three: now it has it, and nothing else can take its number
    read_fd, write_fd = os.dup(0), os.dup(1)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    os.close(nowhere)
    return read_fd, write_fd


class PipeReader:
    """Reads a descriptor in a daemon thread, so that neither the event loop nor the end of the process waits for it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(READ_AHEAD)
        self._stopped = False
        threading.Thread(target=self._pump, daemon=True, name="companion-read").start()

    async def read(self, n: int, /) -> bytes:
        """The next chunk, of up to `CHUNK` bytes whatever `n` is; none at the end or once stopped."""
        data = b"" if self._stopped else await self._chunks.get()
        self._room.release()
        return b"" if self._stopped else data

    def stop(self) -> None:
        """End the input here."""
        self._stopped = True
        self._chunks.put_nowait(b"")

    def _pump(self) -> None:
        data = b"more"
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody reads any more
            while data:
                self._room.acquire()
                try:
                    data = os.read(self._fd, CHUNK)
                except OSError:
                    data = b""
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, data)


class PipeWriter:
    """Writes to a descriptor in a daemon thread, so that a client that does not read stops nobody but itself."""

    def __init__(
        self,
        fd: int,
        *,
        on_broken: Callable[[], None],
        max_backlog: int,
        max_behind: int = MAX_BEHIND,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fd = fd
        self._on_broken = on_broken
        self._max_backlog = max_backlog
        self._max_behind = max_behind
        self._monotonic = monotonic
        self._last_read = monotonic()
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._queued = self._taken = self._written = 0  # the loop writes the first, the thread the others
        self._closed = False
        self._done = asyncio.Event()
        threading.Thread(target=self._pump, daemon=True, name="companion-write").start()

    @property
    def backlog(self) -> int:
        """Bytes that wait."""
        return self._queued - self._written

    def write(self, data: bytes) -> None:
        """Queue bytes; never waits. After `close`, or once the client is gone or given up, they go nowhere.

        A client that reads slowly gets every answer, for one alone may be larger than any bound. What waits behind it
        has a bound: memory must not grow for as long as more is said than is read.
        """
        if self._closed:
            return
        if self.backlog == 0:
            self._last_read = self._monotonic()
        elif self._queued - self._taken > self._max_behind:
            self._give_up("reads too slowly")
            return
        elif self.backlog > self._max_backlog and self._monotonic() - self._last_read > READ_NOTHING:
            self._give_up("does not read")
            return
        self._queued += len(data)
        self._waiting.put(data)

    def close(self) -> None:
        """Take no more; what is queued is still written."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)

    async def flush_and_close(self) -> None:
        """Close, and give the queue `FLUSH_TIMEOUT` to empty."""
        self.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_TIMEOUT):
                await self._done.wait()

    def _give_up(self, why: str) -> None:
        logger.error("The client %s: gave it up with %d bytes waiting", why, self.backlog)
        self._break()

    def _break(self) -> None:
        if not self._closed:
            self._closed = True
            with contextlib.suppress(queue.Empty):  # nobody will read it, so it need not be kept
                while True:
                    self._waiting.get_nowait()
            self._waiting.put(None)
            self._done.set()
            self._on_broken()

    def _pump(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            try:
                for piece in self._pieces():
                    view = memoryview(piece)
                    while view:
                        # A larger piece would be one write, which ends only when the client has read all of it.
                        written = os.write(self._fd, view[:CHUNK])
                        view = view[written:]
                        self._written += written
                        self._last_read = self._monotonic()
            except OSError:
                self._loop.call_soon_threadsafe(self._break)
            self._loop.call_soon_threadsafe(self._done.set)

    def _pieces(self) -> Iterator[bytes]:
        """What waits, in order; small messages that wait together are one piece, for each write is a system call, and
        wakes the client.
        """
        together: list[bytes] = []
        size = 0
        while (data := self._waiting.get()) is not None:
            if together and size + len(data) > CHUNK:
                yield self._piece(together)
                together, size = [], 0
            together.append(data)
            size += len(data)
            if size >= CHUNK or self._waiting.empty():
                yield self._piece(together)
                together, size = [], 0
        if together:
            yield self._piece(together)

    def _piece(self, together: list[bytes]) -> bytes:
        piece = b"".join(together)
        self._taken += len(piece)
        return piece


@contextlib.contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Generator[None]:
    """Call `stop` on the loop when a signal asks the process to end. Off the main thread nothing is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":
        before = {number: signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop)) for number in _ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    else:
        for number in _ENDING:
            loop.add_signal_handler(number, stop)
        try:
            yield
        finally:
            for number in _ENDING:
                loop.remove_signal_handler(number)
