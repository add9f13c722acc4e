"""Talking to a server: in memory, with no process and no bytes beyond one message's; or raw, to a process over its
pipes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gemini_companion.protocol.server import CompanionServer
from tests.support.lsp_types import daemon_paths
from tests.support.patience import PATIENCE

ROOT = Path(__file__).parents[2]


class WireFault(Exception):
    """An error reply."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error["data"]


class InMemoryClient:
    """A client of a server, without a process: it is the server's writer, so what the server sends is here at once.

    `received` is everything, in order. `handlers` answer the server's requests: method to a function from params to
    result, or an exception.
    """

    def __init__(self, server: CompanionServer) -> None:
        self.server = server
        self.received: list[dict[str, Any]] = []
        self.handlers: dict[str, Any] = {}
        self._arrived = asyncio.Event()
        self._last_id = 0
        server.dispatcher.set_writer(self, include_headers=False)

    def write(self, data: bytes) -> None:
        message = json.loads(data)
        self.received.append(message)
        self._arrived.set()
        if "method" in message and "id" in message and message["method"] in self.handlers:
            asyncio.get_running_loop().call_soon(self._answer, message)

    def close(self) -> None:
        pass

    def feed(self, message: object) -> None:
        """Send one message: builtins, or a body's bytes."""
        self.server.dispatcher.receive(message if isinstance(message, bytes) else json.dumps(message).encode())

    def notify(self, method: str, params: object = None) -> None:
        self.feed({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, method: str, params: object = ..., request_id: object = None) -> Any:
        """Send a request without waiting; returns its id. Without `params` the key is left out."""
        if request_id is None:
            self._last_id += 1
            request_id = self._last_id
        self.feed(
            {"jsonrpc": "2.0", "id": request_id, "method": method} | ({} if params is ... else {"params": params})
        )
        return request_id

    async def answer_to(self, request_id: object) -> dict[str, Any]:
        """The response with this id."""
        return await self.until(lambda message: "method" not in message and message["id"] == request_id)

    async def until(self, wanted: Any) -> dict[str, Any]:
        """The first message, here already or yet to come, that `wanted` is true for."""
        async with asyncio.timeout(PATIENCE):
            while True:
                if found := next((message for message in self.received if wanted(message)), None):
                    return found
                self._arrived.clear()
                await self._arrived.wait()

    async def request(self, method: str, params: object = ...) -> Any:
        """Ask, and wait for the result. Raises `WireFault`."""
        answer = await self.answer_to(self.send(method, params))
        if "error" in answer:
            raise WireFault(answer["error"])
        return answer["result"]

    async def fails(self, method: str, params: object = ...) -> WireFault:
        """Ask for something that must be refused."""
        try:
            result = await self.request(method, params)
        except WireFault as fault:
            return fault
        raise AssertionError(f"{method} was answered: {result}")

    async def initialize(self, **params: Any) -> dict[str, Any]:
        """Say `initialize` and `initialized`; returns the result."""
        result = await self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}} | params)
        self.notify("initialized", {})
        return result

    def notifications(self, method: str) -> list[Any]:
        """The params of all notifications of one method, in order."""
        return [
            message["params"] for message in self.received if message.get("method") == method and "id" not in message
        ]

    def responses(self) -> list[dict[str, Any]]:
        return [message for message in self.received if "method" not in message]

    def _answer(self, message: dict[str, Any]) -> None:
        outcome = self.handlers[message["method"]](message.get("params"))
        reply = (
            {"error": {"code": -32000, "message": str(outcome)}}
            if isinstance(outcome, Exception)
            else {"result": outcome}
        )
        self.feed({"jsonrpc": "2.0", "id": message["id"]} | reply)


class ProcessClient:
    """A server in a process of its own, spoken to in raw bytes, so that nothing of a client library hides what is on
    the wire.
    """

    def __init__(self, process: asyncio.subprocess.Process, transport: asyncio.SubprocessTransport) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.process, self.stdin, self.stdout, self.stderr = process, process.stdin, process.stdout, process.stderr
        self._transport = transport

    @classmethod
    async def start(cls, *arguments: str, env: Mapping[str, str] | None = None) -> ProcessClient:
        """Run `python arguments…` with the project importable."""
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: asyncio.subprocess.SubprocessStreamProtocol(limit=2**27, loop=loop),
            sys.executable,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": daemon_paths(ROOT / "server", ROOT), **(env or {})},
        )
        return cls(asyncio.subprocess.Process(transport, protocol, loop), transport)

    def send(self, message: object) -> None:
        """Send builtins as a framed message, or bytes as they are."""
        if isinstance(message, bytes):
            self.stdin.write(message)
        else:
            body = json.dumps(message).encode()
            self.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def receive(self) -> dict[str, Any]:
        """The next message from the server. Raises `EOFError` at the end."""
        async with asyncio.timeout(PATIENCE):
            length = None
            while (line := await self.stdout.readline()).strip():
                name, _, value = line.partition(b":")
                assert name == b"Content-Length", line
                length = int(value)
            if length is None:
                raise EOFError
            return json.loads(await self.stdout.readexactly(length))

    async def request(self, method: str, params: object = ..., request_id: object = 1) -> dict[str, Any]:
        """Ask, and wait for the response, skipping other messages."""
        self.send(
            {"jsonrpc": "2.0", "id": request_id, "method": method} | ({} if params is ... else {"params": params})
        )
        while True:
            message = await self.receive()
            if "method" not in message and message["id"] == request_id:
                return message

    async def initialize(self) -> dict[str, Any]:
        answer = await self.request(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {}}, "initialize"
        )
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
        return answer

    async def ended(self) -> int:
        """The exit code, once the process has ended by itself."""
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    def stop_reading(self) -> None:
        """Close our end of its stdout."""
        pipe = self._transport.get_pipe_transport(1)
        assert pipe is not None
        pipe.close()

    async def stop(self) -> None:
        """Leave nothing behind, whatever state it is in."""
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        self.stdin.close()
        self._transport.close()
