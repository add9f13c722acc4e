"""A small LSP client: starts a daemon as a child process and connects to it, as an editor does."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from gemini_companion.engine.errors import CompanionError

START_SECONDS = 30.0


class DaemonError(CompanionError):
    """The daemon answered with an error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        data = error.get("data")
        hint = str(cast("dict[str, Any]", data).get("hint", "")) if isinstance(data, dict) else ""
        super().__init__(str(error.get("message", "The daemon failed.")), hint=hint)


class LspClient:
    """One connection over the standard streams of a child process.

    `on_notification` is called with method and params, in the order in which notifications arrive; `on_request`
    answers what the daemon asks.
    """

    def __init__(
        self,
        on_notification: Callable[[str, Any], None],
        on_request: Callable[[str, Any], Any] = lambda method, params: None,
    ) -> None:
        self._on_notification = on_notification
        self._on_request = on_request
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self, env: Mapping[str, str], **params: Any) -> dict[str, Any]:
        """Start the daemon and initialize it with `params`. Returns the result of `initialize`."""
        command = [sys.executable, "-m", "gemini_companion", "serve"]
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=dict(env))
        self._reader = asyncio.create_task(self._read(), name="daemon-output")
        async with asyncio.timeout(START_SECONDS):
            answer = await self.request("initialize", {"processId": None, "capabilities": {}, **params})
        self.notify("initialized", {})
        return cast("dict[str, Any]", answer)

    async def request(self, method: str, params: Any = None) -> Any:
        """Send a request and wait for its result. Cancelling the waiting task cancels the request.

        Raises `DaemonError` for an error answer, `CompanionError` if the daemon ends.
        """
        request_id = next(self._ids)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        self._send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})
        try:
            return await future
        except asyncio.CancelledError:
            self.notify("$/cancelRequest", {"id": request_id})
            raise
        finally:
            self._waiting.pop(request_id, None)

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def stop(self) -> None:
        """Shut the daemon down; kill it if that takes more than 10 seconds."""
        if self._process is None:
            return
        if self._process.returncode is None:
            try:
                async with asyncio.timeout(10):
                    await self.request("shutdown")
                    self.notify("exit", None)
                    await self._process.wait()
            except (TimeoutError, CompanionError, ConnectionError):
                self._process.kill()
                await self._process.wait()
        if self._reader is not None:
            await self._reader

    def _send(self, message: dict[str, Any]) -> None:
        body = msgspec.json.encode(message)
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        output = self._process.stdout if self._process else None
        try:
            while output is not None and (message := await _message(output)) is not None:
                self._take(message)
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(
                        CompanionError("The daemon ended unexpectedly.", hint="Run gemini-companion doctor.")
                    )

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            if "id" in message:
                result = self._on_request(message["method"], message.get("params"))
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            else:
                self._on_notification(message["method"], message.get("params"))
            return
        future = self._waiting.get(message.get("id", -1))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(DaemonError(message["error"]))
        else:
            future.set_result(message.get("result"))


async def _message(output: asyncio.StreamReader) -> dict[str, Any] | None:
    length = 0
    while True:
        line = await output.readline()
        if not line:
            return None
        name, _, value = line.decode("ascii", "replace").partition(":")
        if name.strip().lower() == "content-length":
            length = int(value)
        if not line.strip():
            break
    return cast("dict[str, Any]", msgspec.json.decode(await output.readexactly(length)))
