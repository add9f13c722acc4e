"""The HTTP client for the SDK: its time limits, its proxies, and a bound on what it reads. Loaded with the SDK."""

from __future__ import annotations

import asyncio
import codecs
import ipaddress
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx2
import msgspec

from gemini_companion.adapters.certificates import tls_context
from gemini_companion.adapters.gemini.body import Body
from gemini_companion.adapters.gemini.event_stream import EventLines, with_usable_counts
from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.plain_events import LARGE_BYTES, PlainEvents
from gemini_companion.sessions.models.port import ModelChunk

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The largest answer that is read, packed or unpacked; as much as one message to an editor may have."""

_PIECE_BYTES: Final = 256 * 1024
"""The most that is unpacked at once."""

_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
"""zlib's way to say: whichever of the two the header names."""

_GZIP: Final = b"\x1f\x8b"
"""How a packed part begins."""

_MAX_PARTS: Final = 100
"""Packed parts of one answer; the rest is copied for each."""

_BREATH_BYTES: Final = 1024 * 1024
"""After so many unpacked bytes the event loop gets a turn: a packed kilobyte may become as many."""
BREATH_EVENTS: Final = 100
"""After so many events it gets one too: they may have ten bytes each, and take the SDK a tenth of a millisecond."""


class Reading:
    """A stream that is being read: what its caller takes of it, and what it must close."""

    def __init__(self, receive: Callable[[ModelChunk], None]) -> None:
        self.receive: Callable[[ModelChunk], None] | None = receive
        """Takes what plain events say, at once and in the stream's order; the SDK gets none of them. Must not raise.
        With `None` the SDK gets them all.
        """
        self.responses: list[httpx2.Response] = []
        """Those that came: the SDK leaves one open whose stream has an error."""

    async def close(self) -> None:
        """Close the responses, and hold nothing more: timers of the past hold their context for minutes."""
        responses, self.responses, self.receive = self.responses, [], None
        for response in responses:
            await response.aclose()


reading: ContextVar[Reading | None] = ContextVar("reading", default=None)
"""The stream of the call under way; `None` if it is none."""

outgoing: ContextVar[Body | None] = ContextVar("outgoing", default=None)
"""The body of the call under way, which a `BodyClient` sends in place of the placeholder."""

PLACEHOLDER: Final = "This stands for a request's contents. It is never sent."
"""The text of the one content that the SDK is given where a `BodyClient` sends the request."""

_MOST_PLACEHOLDER_BYTES: Final = 4_096


class AnswerTooLarge(Exception):
    """An answer grew past `MAX_ANSWER_BYTES`."""


class UnexpectedRequest(Exception):
    """The SDK made another request of the placeholder than the one that is known; nothing was sent."""


class BodyClient(httpx2.AsyncClient):
    """Sends `outgoing` where the SDK has it send the placeholder.

    The SDK dumps what it sends as one text on the event loop, and takes no bytes. Its address, its headers and what
    else it put into the body go out as it made them.
    """

    def build_request(self, method: str, url: Any, *, content: Any = None, headers: Any = None, **more: Any) -> Any:
        """As `httpx2.AsyncClient`. Raises `UnexpectedRequest`."""
        is_placeholder = (
            isinstance(content, bytes) and len(content) < _MOST_PLACEHOLDER_BYTES and PLACEHOLDER.encode() in content
        )
        body = outgoing.get()
        if body is None and not is_placeholder:
            return super().build_request(method, url, content=content, headers=headers, **more)
        sent = body.with_fields_of(_fields_of(content)) if body is not None and is_placeholder else None
        if sent is None:
            raise UnexpectedRequest
        headers = httpx2.Headers(headers)
        headers["content-length"] = str(sent.size)
        return super().build_request(method, url, content=sent, headers=headers, **more)


def _fields_of(placeholder: bytes) -> dict[str, Any]:
    """The fields around the placeholder. Raises `UnexpectedRequest` if that is not all of the contents."""
    try:
        fields = msgspec.json.decode(placeholder, type=dict[str, Any])
    except msgspec.DecodeError:
        raise UnexpectedRequest from None
    if fields.get("contents") != [{"parts": [{"text": PLACEHOLDER}], "role": "user"}]:
        raise UnexpectedRequest
    return fields


def http_client(options: GeminiOptions, transport: httpx2.AsyncBaseTransport | None = None) -> BodyClient:
    """Our own client, so that the SDK chooses neither another HTTP library nor a timeout.

    The SDK's `timeout` would bound silence too, but it also makes the server end the whole answer by then. Redirects
    are not followed, since they would carry the key along. A proxy from the environment is used for any host but this
    machine. `transport` stands for the network, in tests.
    """

    async def set_patience(request: httpx2.Request) -> None:
        at_once = request.url.path.endswith(":generateContent")
        silence = (options.timeout_ms if at_once else options.idle_timeout_ms) / 1000
        connect = options.connect_timeout_ms / 1000
        request.extensions["timeout"] = {"connect": connect, "pool": connect, "read": silence, "write": silence}

    async def unpack(response: httpx2.Response) -> None:
        """Unpack the answer here, where each piece is counted before the next one is made."""
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            return
        stream = reading.get()
        if stream is not None:
            stream.responses.append(response)
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        response.headers.pop("content-length", None)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        lines = EventLines() if kind == "text/event-stream" else None
        # The body of an error, and text that is in no UTF-8, are the SDK's.
        is_answer = response.status_code == 200 and codecs.lookup(response.encoding or "").name == "utf-8"
        receive = stream.receive if stream is not None and is_answer else None
        is_whole = is_answer and kind == "application/json" and response.request.url.path.endswith(":generateContent")
        response.stream = _Unpacked(response.stream, encoding, lines, receive, is_whole=is_whole)

    return BodyClient(
        transport=transport,
        verify=tls_context(),
        trust_env=not (options.base_url and is_loopback(options.base_url)),
        follow_redirects=False,
        headers={"accept-encoding": "gzip"},
        event_hooks={"request": [set_patience], "response": [unpack]},
    )


class _Unpacked(httpx2.AsyncByteStream):
    """The unpacked bytes, up to the bound; of a stream of events (`lines`), what the SDK can read of it.

    Of that `receive` is given the plain events. What is for the SDK ends where the next of those begins, and the SDK
    asks for more only when it has told all that it was given, so the order stays.

    It is its own iterator and no generator: the SDK leaves streams half read, and nested generators would then be
    closed by the garbage collector, in whatever order.
    """

    def __init__(
        self,
        stream: httpx2.AsyncByteStream,
        encoding: str,
        lines: EventLines | None,
        receive: Callable[[ModelChunk], None] | None,
        *,
        is_whole: bool = False,
    ) -> None:
        self._answer: list[bytes] | None = [] if is_whole else None
        """Of an answer in one piece what came of it: its counts are looked at in the whole."""
        self._stream = stream
        self._source = aiter(stream)
        self._encoding = encoding
        self._unpacker = _unpacker(encoding)
        self._lines = lines
        self._receive = receive
        self._plain_events = PlainEvents()
        self._pieces: Iterator[ModelChunk | bytes] = iter(())
        """What was read and is not told yet."""
        self._packed = b""
        """What came and is not unpacked yet."""
        self._packed_size = self._size = self._breath = self._told = 0
        self._has_ended = self._is_whole = False
        self._parts = 1

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while True:
            for piece in self._pieces:
                if isinstance(piece, bytes):
                    return piece
                if self._receive is not None:
                    self._receive(piece)
                self._told += 1
                if self._told % BREATH_EVENTS == 0:
                    await asyncio.sleep(0)
            if self._has_ended:
                raise StopAsyncIteration
            data = await self._unpack()
            if not data:
                self._has_ended = True
            self._size += len(data)
            if self._size > MAX_ANSWER_BYTES:
                raise AnswerTooLarge
            if self._size - self._breath > _BREATH_BYTES:
                self._breath = self._size
                await asyncio.sleep(0)
            ends = not data or b"\n" in data or b"\r" in data
            if self._lines is not None and self._lines.waiting > LARGE_BYTES and ends:
                self._pieces = iter(await asyncio.to_thread(self._all_pieces_of, data))
            else:
                self._pieces = self._pieces_of(data)

    def _all_pieces_of(self, data: bytes) -> list[ModelChunk | bytes]:
        return list(self._pieces_of(data))

    def _pieces_of(self, data: bytes) -> Iterator[ModelChunk | bytes]:
        """What has come with these bytes; with none, the rest."""
        if self._lines is not None:
            data = self._lines.feed(data) if data else self._lines.rest()
            self._has_ended = self._has_ended or self._lines.is_done
            if self._receive is not None:
                return self._plain_events.pieces(data, is_end=self._has_ended)
        if self._answer is not None:
            self._answer.append(data)
            return iter(() if data else (with_usable_counts(b"".join(self._answer)),))
        return iter((data,) if data else ())

    async def _unpack(self) -> bytes:
        """The next piece, of at most `_PIECE_BYTES` if it was packed; empty at the end."""
        while not self._is_whole:
            if not self._packed:
                try:
                    self._packed = await anext(self._source)
                except StopAsyncIteration:
                    return b""
                self._packed_size += len(self._packed)
                if self._packed_size > MAX_ANSWER_BYTES:
                    raise AnswerTooLarge
            if self._unpacker is None:
                data, self._packed = self._packed, b""
            else:
                try:
                    data = self._unpacker.decompress(self._packed, _PIECE_BYTES)
                except zlib.error as fault:
                    raise httpx2.DecodingError(f"not {self._encoding}: {fault}") from None
                self._packed = self._unpacker.unconsumed_tail
                if self._unpacker.eof:
                    self._go_on_after(self._unpacker.unused_data)
            if data:
                return data
        return b""

    def _go_on_after(self, rest: bytes) -> None:
        """After the end of what was packed comes another packed part, or nothing that counts."""
        if rest.startswith(_GZIP):
            self._parts += 1
            if self._parts > _MAX_PARTS:
                raise httpx2.DecodingError(f"{self._encoding} of more than {_MAX_PARTS} parts")
            self._packed, self._unpacker = rest, _unpacker(self._encoding)
        else:
            self._packed, self._is_whole = b"", True

    async def aclose(self) -> None:
        close = getattr(self._source, "aclose", None)
        if close is not None:
            with suppress(RuntimeError):  # it runs at this moment, in a task that is being cancelled
                await close()
        await self._stream.aclose()


class _Unpacker(Protocol):
    """What is used of zlib's decompressor, whose type has no public name."""

    @property
    def unconsumed_tail(self) -> bytes: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _unpacker(encoding: str) -> _Unpacker | None:
    match encoding:
        case "identity" | "":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(_GZIP_OR_ZLIB)
        case _:
            raise httpx2.DecodingError("The answer is packed in a way that was not asked for.")


def is_loopback(url: str) -> bool:
    """True if `url` points at this machine, for which a proxy from the environment must not be used."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
