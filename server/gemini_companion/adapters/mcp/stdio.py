"""The transport of servers that are processes: lines of JSON over their standard streams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse

from gemini_companion.adapters.mcp.messages import message_of
from gemini_companion.adapters.mcp.process import FLOOD_SECONDS, ServerFlood, ServerProcess

MAX_GARBAGE: Final = 2**20
"""Bytes on end that are no messages, after which a server is given up."""
_LOGGED_GARBAGE: Final = 4_000

MOST_UNASKED: Final = 3_000
"""Messages within `FLOOD_SECONDS` that answer nothing: requests, logs, news."""


class _Patience:
    """Counts what a server says that nobody asked for, and what is no message."""

    def __init__(self) -> None:
        self._unasked = 0
        self._garbage = 0
        self._since = time.monotonic()

    def take(self, message: SessionMessage) -> None:
        """A message. Raises `ServerFlood` where it is one too many."""
        self._garbage = 0
        if isinstance(message.message, JSONRPCResponse | JSONRPCError):
            return
        now = time.monotonic()
        if now - self._since > FLOOD_SECONDS:
            self._unasked, self._since = 0, now
        self._unasked += 1
        if self._unasked > MOST_UNASKED:
            raise ServerFlood(f"It said more than {MOST_UNASKED:,} things unasked within {FLOOD_SECONDS:g} seconds.")

    def take_garbage(self, line: bytes, on_log: Callable[[str], None]) -> None:
        """A line that is no message; the first are logged. Raises `ServerFlood` where there are too many on end."""
        self._garbage += len(line) + 100  # a short line costs too
        if self._garbage > MAX_GARBAGE:
            raise ServerFlood("It writes what are no messages.")
        if self._garbage <= _LOGGED_GARBAGE:
            on_log(f"(not a message) {line[:200].decode('utf-8', 'replace')}")


@asynccontextmanager
async def stdio_streams(
    process: ServerProcess, on_log: Callable[[str], None], on_end: Callable[[str], None]
) -> AsyncGenerator[tuple[Any, Any]]:
    """The two streams that the SDK's client takes. `on_end` gets the reason when the server's output has ended."""
    sender, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, receiver = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        reason, patience = "", _Patience()
        async with sender:  # it is closed once the reason is told: whoever waits for an answer is told it too
            try:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    async for line in process.lines():
                        message = await message_of(line)
                        if message is None:
                            patience.take_garbage(line, on_log)
                        else:
                            patience.take(message)
                            await sender.send(message)
            except ServerFlood as flood:
                reason = str(flood)
            if not reason:
                with anyio.move_on_after(1.0):
                    await asyncio.shield(process.ended)
                    await process.heard_out(0.5)
                reason = process.how_it_ended if process.ended.done() else "It closed its output."
            on_end(reason)

    async def write() -> None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with receiver:
                async for message in receiver:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.write(text.encode("utf-8", "replace") + b"\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield incoming, outgoing
        finally:
            tasks.cancel_scope.cancel()
            for stream in (sender, incoming, outgoing, receiver):
                stream.close()
