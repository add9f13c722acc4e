"""A server's process as an editor has it, with the moment at which each message came out of its pipe."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, NamedTuple

from gemini_companion.protocol.frames import FrameParser, frame

PATIENCE: Final = 60.0
"""Seconds that any one wait may take."""

Json = dict[str, Any]


class Arrival(NamedTuple):
    """A message and when its last byte was read, in nanoseconds of `time.perf_counter_ns`."""

    at: int
    message: Json


class Daemon:
    """Speaks LSP's base protocol to a child process. Reading is a thread's business and does nothing but note the
    time.
    """

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,
        )
        self.notifications: list[Arrival] = []
        """What it told since this was last cleared, as far as answers were waited for."""
        self._arrived: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._last_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def initialize(self, **params: Any) -> Json:
        """Say `initialize`; the answer."""
        return self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}} | params)

    def request(self, method: str, params: object) -> Json:
        """Ask, and wait for the response, as a JSON-RPC object."""
        return self.answer_to(self.send(method, params)).message

    def send(self, method: str, params: object) -> int:
        """Ask without waiting; the request's id."""
        self._last_id += 1
        self.write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def notify(self, method: str, params: object) -> None:
        """Tell something."""
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, *messages: Json) -> None:
        """Send messages in one piece."""
        assert self.process.stdin
        self.process.stdin.write(b"".join(frame(json.dumps(message).encode()) for message in messages))

    def answer_to(self, request_id: int) -> Arrival:
        """The response to a request, with its time; what was told before it is kept in `notifications`."""
        while True:
            arrival = self.next()
            if "method" not in arrival.message and arrival.message.get("id") == request_id:
                return arrival

    def next(self) -> Arrival:
        """The next message. Raises `EOFError` if the process has ended, `TimeoutError` if nothing comes."""
        try:
            arrived = self._arrived.get(timeout=PATIENCE)
        except queue.Empty:
            raise TimeoutError("the server is silent") from None
        if arrived is None:
            raise EOFError("the server has ended")
        at, body = arrived
        arrival = Arrival(at, json.loads(body))
        if "method" in arrival.message:
            self.notifications.append(arrival)
        return arrival

    def _read(self) -> None:
        assert self.process.stdout
        descriptor = self.process.stdout.fileno()
        parser = FrameParser()
        with suppress(OSError):  # killed in the middle of an answer: its pipe is closed beneath this
            while data := os.read(descriptor, 1 << 16):
                at = time.perf_counter_ns()
                parser.feed(data)
                while isinstance(body := parser.next(), bytes):
                    self._arrived.put((at, body))
        self._arrived.put(None)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was started in a session of its own, with whatever it started, and take its exit code."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()
