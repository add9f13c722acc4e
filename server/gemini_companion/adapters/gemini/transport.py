"""The HTTP client for the SDK: its time limits, its proxies, and a bound on what it reads. Loaded with the SDK."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import ssl
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

import httpx2

from gemini_companion.adapters.gemini.event_stream import EventLines
from gemini_companion.adapters.gemini.options import GeminiOptions

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The largest answer that is read, packed or unpacked; as much as one message to an editor may have."""

_BREATH_BYTES: Final = 1024 * 1024
"""After so many unpacked bytes the event loop gets a turn: a packed kilobyte may become as many."""


class AnswerTooLarge(Exception):
    """An answer grew past `MAX_ANSWER_BYTES`."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The trusted certificates (SSL_CERT_FILE counts), loaded once: it takes 25 ms."""
    return httpx2.create_ssl_context()


def http_client(options: GeminiOptions) -> httpx2.AsyncClient:
    """Our own client, so that the SDK chooses neither another HTTP library nor a timeout.

    The SDK's `timeout` would bound silence too, but it also makes the server end the whole answer by then. Redirects
    are not followed, since they would carry the key along. A proxy from the environment is used for any host but this
    machine.
    """

    async def set_patience(request: httpx2.Request) -> None:
        at_once = request.url.path.endswith(":generateContent")
        silence = (options.timeout_ms if at_once else options.idle_timeout_ms) / 1000
        connect = options.connect_timeout_ms / 1000
        request.extensions["timeout"] = {"connect": connect, "pool": connect, "read": silence, "write": silence}

    async def unpack(response: httpx2.Response) -> None:
        """Unpack the answer here, where each piece can be counted before the next one is made."""
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            return
        packed = httpx2.Response(
            200,
            headers=[("content-encoding", value) for value in response.headers.get_list("content-encoding")],
            stream=_Bounded(response.stream),
            request=response.request,
        )
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        lines = EventLines() if kind == "text/event-stream" else None
        response.stream = _Unpacked(packed, lines)
        for name in ("content-encoding", "content-length"):
            if name in response.headers:
                del response.headers[name]

    return httpx2.AsyncClient(
        verify=tls_context(),
        trust_env=not (options.base_url and is_loopback(options.base_url)),
        follow_redirects=False,
        event_hooks={"request": [set_patience], "response": [unpack]},
    )


class _Bounded(httpx2.AsyncByteStream):
    """The bytes as they came, up to the bound: packing can also make much of nothing."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._stream:
            size += len(data)
            if size > MAX_ANSWER_BYTES:
                raise AnswerTooLarge
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Unpacked(httpx2.AsyncByteStream):
    """The unpacked bytes, up to the bound; of a stream of events (`lines`), what the SDK can read of it."""

    def __init__(self, packed: httpx2.Response, lines: EventLines | None) -> None:
        self._packed = packed
        self._lines = lines

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = breath = 0
        lines = self._lines
        async for data in self._packed.aiter_bytes():
            size += len(data)
            if size > MAX_ANSWER_BYTES:
                raise AnswerTooLarge
            if size - breath > _BREATH_BYTES:
                breath = size
                await asyncio.sleep(0)
            if lines is None:
                yield data
                continue
            if readable := lines.feed(data):
                yield readable
            if lines.is_done:
                return
        if lines is not None and (readable := lines.rest()):
            yield readable

    async def aclose(self) -> None:
        await self._packed.aclose()


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
