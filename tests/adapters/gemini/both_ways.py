"""Streams read as they are read, and with every event given to the SDK: what each of the two tells of the same bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

import httpx2
from google.genai import types

from gemini_companion.adapters.gemini.answer import chunk_of
from gemini_companion.adapters.gemini.body import Body
from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.sdk import Connection
from gemini_companion.adapters.gemini.transport import http_client, reading
from gemini_companion.engine.errors import ModelFault
from gemini_companion.sessions.models.port import ModelChunk

EVENTS: Final = {"content-type": "text/event-stream"}
BODY: Final = Body.of({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]})

Step = bytes | asyncio.Event | None
"""Bytes of a stream, a moment to wait for, or `None` for a connection that breaks."""


class Told(NamedTuple):
    """What came of a stream, and what ended it if that was a fault: its type, and all that it says."""

    chunks: list[ModelChunk]
    fault: tuple[object, ...] | None


class Stream(httpx2.AsyncByteStream):
    """The bytes of a response, as they come."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self.is_closed = False
        self.read = 0
        """Steps that were asked for."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for step in self._steps:
            self.read += 1
            match step:
                case bytes():
                    yield step
                case None:
                    raise httpx2.ReadError("broken")
                case asyncio.Event():
                    await step.wait()

    async def aclose(self) -> None:
        self.is_closed = True


class Reader:
    """A connection to nowhere whose answers are given to it; `taking`: plain events are taken from the SDK, as always."""

    def __init__(self, options: GeminiOptions, *, taking: bool = True) -> None:
        self._answer = httpx2.Response(200)
        http = http_client(options, httpx2.MockTransport(lambda request: self._answer))
        if not taking:
            leave_all_to_the_sdk(http)
        self._connection = Connection(options, http)
        self.by_sdk: list[bool] = []
        """Of each piece of the last stream, whether the SDK told it."""

    async def read(self, stream: Stream, headers: dict[str, str], into: list[ModelChunk], status: int = 200) -> None:
        """Run one stream. Raises `ModelFault`."""
        self._answer = httpx2.Response(status, headers=headers, stream=stream)
        self.by_sdk.clear()
        await read(self._connection, into, self.by_sdk)

    async def told(self, stream: Stream, headers: dict[str, str] = EVENTS, status: int = 200) -> Told:
        """Run one stream to its end."""
        chunks: list[ModelChunk] = []
        try:
            await self.read(stream, headers, chunks, status)
        except ModelFault as fault:
            return Told(chunks, described(fault))
        return Told(chunks, None)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


def leave_all_to_the_sdk(http: httpx2.AsyncClient) -> None:
    """Have nobody take plain events from the streams of this client."""

    async def forget(_response: httpx2.Response) -> None:
        stream = reading.get()
        assert stream is not None
        stream.receive = None

    hooks = http.event_hooks
    http.event_hooks = {**hooks, "response": [forget, *hooks["response"]]}


async def read(connection: Connection, into: list[ModelChunk], by_sdk: list[bool]) -> None:
    """Run one stream: each chunk, and whether the SDK told it. Raises `ModelFault`."""
    unreadable: list[ModelFault] = []

    def emit(piece: types.GenerateContentResponse | ModelChunk) -> None:
        by_sdk.append(not isinstance(piece, ModelChunk))
        if not unreadable:
            try:
                into.append(piece if isinstance(piece, ModelChunk) else chunk_of(piece))
            except ModelFault as fault:
                unreadable.append(fault)

    try:
        await connection.stream("gemini-2.5-pro", BODY, emit)
    finally:
        if unreadable:
            raise unreadable[0]


def described(fault: ModelFault) -> tuple[object, ...]:
    """Its type, and all that it says."""
    return type(fault), fault.message, fault.hint, fault.retryable, fault.retry_after_ms
