"""Servers that are reached over HTTP: streamable, or by server-sent events as older ones have it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import mcp_types
from mcp.client import streamable_http
from mcp.client.auth import OAuthClientProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata
from pydantic import AnyUrl

from gemini_companion.adapters.certificates import tls_context
from gemini_companion.adapters.mcp.link import START_SECONDS, UNREACHED, SdkLink, open_link
from gemini_companion.adapters.mcp.login import LOGIN_SECONDS, Browser
from gemini_companion.adapters.mcp.logins import Kept, Logins, StoredLogin
from gemini_companion.adapters.mcp.messages import STRICT, ForgivingReader
from gemini_companion.adapters.mcp.process import FLOOD_BYTES, FLOOD_SECONDS, MAX_LINE
from gemini_companion.engine.mcp.config import ServerDefinition
from gemini_companion.engine.mcp.schemas import clean_text
from gemini_companion.sessions.mcp.port import McpFault, Surroundings

_CONNECT_SECONDS: Final = 20.0
_NAME: Final = "Gemini Companion"
_ELSEWHERE: Final = "http://127.0.0.1/callback"
"""Where no browser comes back to."""

for _module in (mcp_types, streamable_http):
    # The SDK's transports read with this, the older one with the first, and cannot be given another reader.
    vars(_module)["jsonrpc_message_adapter"] = ForgivingReader(STRICT)


class TooMuch(httpx2.HTTPError):
    """A server sends more than anybody could want."""


class _NotLoggedIn(McpFault):
    """A login is needed, and nobody asked for one now."""


async def open_remote(server: ServerDefinition, around: Surroundings, logins: Logins) -> SdkLink:
    """A server that has introduced itself. Raises `McpFault`, of the kind `loginNeeded` where a person must log in."""
    kept = await asyncio.to_thread(logins.read, server.url)
    watched = _Watched()
    async with AsyncExitStack() as held:
        browser: Browser | None = None
        auth: httpx2.Auth | None = None
        if around.show_address is not None:
            browser = Browser(around.show_address)
            held.callback(browser.close)
            auth = await _auth_by(browser, server, logins, kept)
        elif kept.tokens is not None:
            with suppress(_NotLoggedIn):
                auth = _auth(server, logins, _ELSEWHERE, _not_now, _nobody)
                return await open_link(partial(_streams, server, auth, watched), around)
            # A token may end before its time: it is renewed once.
            auth = _auth(server, logins, _ELSEWHERE, _not_now, _nobody, is_over=True)
        seconds = START_SECONDS + (LOGIN_SECONDS if browser is not None else 0.0)
        try:
            return await open_link(partial(_streams, server, auth, watched), around, seconds=seconds)
        except McpFault as fault:
            if watched.is_unauthorized and fault.kind != "timedOut" and browser is None:
                words = "It wants you to log in. Choose “Log in” in the list of MCP servers."
                raise McpFault(words, "loginNeeded") from None
            raise


async def _auth_by(browser: Browser, server: ServerDefinition, logins: Logins, kept: Kept) -> httpx2.Auth:
    """A login by the browser. A registration counts only for the address that it was made with."""
    known = [str(one) for one in (kept.client or {}).get("redirect_uris") or ()]
    port = server.oauth.redirect_port or next((urlsplit(one).port or 0 for one in known), 0)
    address = await browser.listen(port)
    await asyncio.to_thread(logins.write, server.url, Kept(client=kept.client if address in known else None))
    return _auth(server, logins, address, browser.show, browser.come_back)


class _Provider(OAuthClientProvider):
    """The SDK's, which remembers where tokens are renewed, and when they end, over a restart."""

    def __init__(self, storage: StoredLogin, *, is_over: bool, **more: Any) -> None:
        super().__init__(storage=storage, **more)
        self._storage = storage
        self._is_over = is_over
        storage.authority = lambda: self.context.oauth_metadata
        storage.resource = lambda: self.context.protected_resource_metadata

    async def _initialize(self) -> None:
        await super()._initialize()
        kept = await self._storage.kept()
        self.context.token_expiry_time = 1.0 if self._is_over else kept.expires_at or None
        with suppress(ValueError):
            if kept.authority:
                self.context.oauth_metadata = OAuthMetadata.model_validate(kept.authority)
            if kept.resource:
                self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(kept.resource)


def _auth(
    server: ServerDefinition, logins: Logins, address: str, show: Any, come_back: Any, *, is_over: bool = False
) -> httpx2.Auth:
    scopes = " ".join(server.oauth.scopes)
    storage = StoredLogin(
        logins, server.url, client_id=server.oauth.client_id, client_secret=server.oauth.client_secret
    )
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(address)], client_name=_NAME, scope=scopes or None)
    return _Provider(
        storage,
        is_over=is_over,
        server_url=server.url,
        client_metadata=metadata,
        redirect_handler=show,
        callback_handler=come_back,
    )


async def _not_now(address: str) -> None:
    """Nobody asked for a login: no browser is opened."""
    raise _NotLoggedIn("The login has expired. Choose “Log in” in the list of MCP servers.", "loginNeeded")


async def _nobody() -> Any:
    raise _NotLoggedIn("Nobody logs in.", "loginNeeded")


@asynccontextmanager
async def _streams(
    server: ServerDefinition, auth: httpx2.Auth | None, watched: _Watched, ended: Callable[[str], None]
) -> AsyncGenerator[tuple[Any, Any]]:
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=server.seconds + 5.0)
    headers = {**server.headers, "accept-encoding": "identity"}  # nothing small unpacks to something huge

    def client(
        headers: dict[str, str] | None = headers,
        timeout: httpx2.Timeout | None = timeout,
        auth: httpx2.Auth | None = auth,
    ) -> httpx2.AsyncClient:
        return _Client(
            ended,
            answers_apart=server.transport == "sse",
            headers=headers,
            timeout=timeout,
            auth=auth,
            verify=tls_context(),
            event_hooks={"response": [watched.look]},
        )

    transport: AbstractAsyncContextManager[Any]
    async with AsyncExitStack() as held:
        if server.transport == "sse":
            transport = sse_client(
                server.url, headers, sse_read_timeout=server.seconds + 5.0, httpx_client_factory=client, auth=auth
            )
        else:
            reached = await held.enter_async_context(client())
            transport = streamable_http_client(server.url, http_client=reached, max_sse_event_size=MAX_LINE)
        incoming, outgoing = await held.enter_async_context(transport)
        yield incoming, outgoing


class _Client(httpx2.AsyncClient):
    """Lets a message that does not arrive cost itself, where the SDK ends the connection or waits for ever."""

    def __init__(self, ended: Callable[[str], None], *, answers_apart: bool, **more: Any) -> None:
        super().__init__(**more)
        self._ended = ended
        self._answers_apart = answers_apart

    async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        if request.method != "POST":
            return await super().send(request, **more)
        try:
            response = await super().send(request, **more)
            if not _is_events(response):
                try:
                    await response.aread()
                finally:
                    await response.aclose()
        except httpx2.HTTPError as fault:
            why = str(fault) or type(fault).__name__
            error = {"code": UNREACHED, "message": why}
            response = httpx2.Response(502, json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)
        else:
            why = f"HTTP {response.status_code}"
        if self._answers_apart and response.status_code >= 400:
            # No answer to it comes any more, and the SDK sends no further message.
            self._ended(f"It did not take a message: {clean_text(why, 300).rstrip('.')}.")
        elif response.status_code == 404 and "mcp-session-id" in request.headers:
            self._ended("It no longer knows this session.")
        return response


class _Watched:
    """Looks at every response ahead of its body, and bounds that."""

    def __init__(self) -> None:
        self.is_unauthorized = False
        """The last answer was that nobody is logged in."""

    async def look(self, response: httpx2.Response) -> None:
        self.is_unauthorized = response.status_code == 401
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooMuch("It packs its answers although it was asked not to.")
        response.stream = BoundedBody(response.stream, _is_events(response))  # pyright: ignore[reportArgumentType]


def _is_events(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("text/event-stream")


_BLANK_LINES: Final = (b"\n\n", b"\r\r", b"\r\n\r\n")


class BoundedBody(httpx2.AsyncByteStream):
    """The bytes of a body, up to a bound: in all, or of one event and within a while where it may go on for ever."""

    def __init__(self, stream: Any, is_stream: bool) -> None:
        self._stream = stream
        self._is_stream = is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count, since = 0, time.monotonic()
        event, tail = 0, b""  # bytes since the last blank line, which ends an event; the newest few of them
        async for data in self._stream:
            now = time.monotonic()
            if self._is_stream and now - since > FLOOD_SECONDS:
                count, since = 0, now
            count += len(data)
            if self._is_stream:
                seen = tail + data
                end = max(seen.rfind(blank) for blank in _BLANK_LINES)
                event = event + len(data) if end < 0 else len(seen) - end
                tail = seen[-3:]
            if count > (FLOOD_BYTES if self._is_stream else MAX_LINE) or event > MAX_LINE:
                raise TooMuch("It sends more than anybody could want.")
            yield data
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._stream.aclose()
