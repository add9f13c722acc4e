"""The HTTP client for the SDK: its time limits, its proxies, and a bound on what it reads. Loaded with the SDK."""

from __future__ import annotations

import functools
import ipaddress
import ssl
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

import httpx2

from gemini_companion.adapters.gemini.options import GeminiOptions

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The largest answer that is read; as much as one message to an editor may have."""


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

    async def bound_answer(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(response.stream)

    return httpx2.AsyncClient(
        verify=tls_context(),
        trust_env=not (options.base_url and is_loopback(options.base_url)),
        follow_redirects=False,
        event_hooks={"request": [set_patience], "response": [bound_answer]},
    )


class _BoundedStream(httpx2.AsyncByteStream):
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
