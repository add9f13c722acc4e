"""One editor's side of a daemon: asks, hears, times every answer, and can behave as badly as a client does."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from gemini_companion.protocol.frames import FrameParser, frame
from tests.chaos.process import DaemonProcess

Json = dict[str, Any]

CHUNK: Final = 1 << 16


class Refused(Exception):
    """An error as an answer."""

    def __init__(self, method: str, error: Json) -> None:
        super().__init__(f"{method}: {error['code']} {error['message']}")
        self.code: int = error["code"]
        self.kind = str((error.get("data") or {}).get("kind", ""))
        self.message: str = error["message"]


class Gone(Exception):
    """The daemon ended, or the connection, before it answered."""


class Client:
    """Speaks to one daemon's process. `on_message` gets every notification."""

    def __init__(self, process: DaemonProcess, on_message: Callable[[str, Json], None]) -> None:
        self.process = process
        self.is_gone = False
        self._on_message = on_message
        self._parser = FrameParser()
        self._waiting: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._last_id = 0
        self._loop = asyncio.get_running_loop()
        self._is_reading = True
        self._unsent = bytearray()
        self._out: int | None = process.stdin
        self._in: int | None = process.stdout
        self._loop.add_reader(process.stdout, self._read)

    async def begin(self, folder: Path, **options: Any) -> Json:
        """Say `initialize` and `initialized`."""
        answer = await self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "capabilities": {"window": {"workDoneProgress": True}},
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
                "initializationOptions": {"trusted": True, **options},
            },
        )
        self.tell("initialized", {})
        return answer

    def send(self, method: str, params: Json) -> tuple[int, asyncio.Future[Any]]:
        """Ask without waiting: the request's id, and the future of its answer (`Refused` or `Gone` if it has none)."""
        self._last_id += 1
        future: asyncio.Future[Any] = self._loop.create_future()
        if self.is_gone:
            future.set_exception(Gone(method))
            return self._last_id, future
        self._waiting[self._last_id] = (method, future)
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id, future

    async def ask(self, method: str, params: Json) -> Any:
        """Ask, and wait for the answer for ever."""
        return await self.send(method, params)[1]

    def tell(self, method: str, params: Json) -> None:
        """Notify."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def cancel(self, request_id: int) -> None:
        """Cancel a request."""
        self.tell("$/cancelRequest", {"id": request_id})

    def stop_reading(self) -> None:
        """Read nothing until `go_on_reading`."""
        if self._in is not None and self._is_reading:
            self._loop.remove_reader(self._in)
            self._is_reading = False

    def go_on_reading(self) -> None:
        """Read again."""
        if self._in is not None and not self._is_reading:
            self._loop.add_reader(self._in, self._read)
            self._is_reading = True

    @property
    def reads(self) -> bool:
        """False while it has stopped reading."""
        return self._is_reading

    def leave_half_way(self, share: float) -> None:
        """Send part of a message and close the pipe."""
        body = frame(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "gemini/models", "params": {}}).encode())
        self._unsent += body[: int(len(body) * share)]
        self._flush()
        self.close_input()

    def close_input(self) -> None:
        """End what the daemon reads."""
        if self._out is not None:
            self._loop.remove_writer(self._out)
            os.close(self._out)
            self._out = None

    def close(self) -> None:
        """Close both pipes."""
        self.close_input()
        self._end()

    def _write(self, message: Json) -> None:
        self._unsent += frame(json.dumps(message).encode())
        self._flush()

    def _flush(self) -> None:
        if self._out is None:
            return
        try:
            while self._unsent:
                del self._unsent[: os.write(self._out, memoryview(self._unsent)[:CHUNK].tobytes())]
        except BlockingIOError:
            self._loop.add_writer(self._out, self._flush)
            return
        except OSError:
            self._unsent.clear()
        self._loop.remove_writer(self._out)

    def _read(self) -> None:
        assert self._in is not None
        try:
            data = os.read(self._in, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self._end()
        self._parser.feed(data)
        while isinstance(body := self._parser.next(), bytes):
            self._take(json.loads(body))
        return None

    def _take(self, message: Json) -> None:
        if "method" not in message:
            method, future = self._waiting.pop(message["id"], ("", None))
            if future is None or future.done():
                return
            if "error" in message:
                future.set_exception(Refused(method, message["error"]))
                future.exception()
            else:
                future.set_result(message["result"])
        elif "id" in message:
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": None})
        else:
            self._on_message(message["method"], message.get("params") or {})

    def _end(self) -> None:
        if self._in is not None:
            if self._is_reading:
                self._loop.remove_reader(self._in)
            os.close(self._in)
            self._in = None
        self.is_gone = True
        for method, future in self._waiting.values():
            if not future.done():
                future.set_exception(Gone(method))
                future.exception()
        self._waiting.clear()
