"""Logging in, in the person's browser: a page of the authorisation server's is shown, and the browser comes back to a
listener on the loopback interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from html import escape
from typing import Final
from urllib.parse import parse_qs, urlsplit

from mcp.shared.auth import AuthorizationCodeResult

from gemini_companion.sessions.mcp.port import McpFault

LOGIN_SECONDS: Final = 300.0
"""How long a person has."""
_PATH: Final = "/callback"
_MOST_BYTES: Final = 16_384
_REQUEST_SECONDS: Final = 10.0
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Browser:
    """One login. `listen` first, then the SDK calls `show` and `come_back`."""

    def __init__(self, show_address: Callable[[str], Awaitable[bool]]) -> None:
        self._show_address = show_address
        self._server: asyncio.Server | None = None
        self._expected = ""
        self._answer: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    async def listen(self, port: int) -> str:
        """Begin to listen, on this port or, where it is taken, on any; the address to come back to."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=_MOST_BYTES)
        except OSError:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_MOST_BYTES)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{_PATH}"

    async def show(self, address: str) -> None:
        """Open the authorisation server's page. Raises `McpFault`."""
        parts = urlsplit(address)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise McpFault("The address to log in at is neither https nor on this machine: it is not opened.")
        self._expected = (parse_qs(parts.query).get("state") or [""])[0]
        if not await self._show_address(address):
            raise McpFault("The editor could not open the browser to log in.")

    async def come_back(self) -> AuthorizationCodeResult:
        """Wait until the browser has come back. Raises `McpFault`."""
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                return await self._answer
        except TimeoutError:
            raise McpFault("Nobody logged in within five minutes.", "loginNeeded") from None

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
        self._answer.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                line = (await reader.readuntil(b"\r\n")).decode("latin-1").split(" ")
                status, words = self._take(line[1] if len(line) > 2 and line[0] == "GET" else "")
                page = f"<!doctype html><meta charset=utf-8><title>Gemini Companion</title><p>{escape(words)}"
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
                    f"Content-Length: {len(page.encode())}\r\n\r\n{page}".encode()
                )
                await writer.drain()
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _take(self, target: str) -> tuple[str, str]:
        """Take an answer, if it is the one that is waited for: any page of the browser's can ask this address."""
        parts = urlsplit(target)
        fields = {name: given[0] for name, given in parse_qs(parts.query).items()}
        if parts.path != _PATH or not self._expected or fields.get("state") != self._expected or self._answer.done():
            return "404 Not Found", "There is nothing here."
        if not fields.get("code"):
            self._answer.set_exception(
                McpFault(f"The login failed: {fields.get('error', 'no reason is given')[:200]}.")
            )
            self._answer.exception()
            return "200 OK", "The login failed. You can close this page."
        self._answer.set_result(
            AuthorizationCodeResult(code=fields["code"], state=fields["state"], iss=fields.get("iss"))
        )
        return "200 OK", "You are logged in. You can close this page and go back to the editor."
