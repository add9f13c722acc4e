"""The process of one MCP server, under the reaper: whatever comes of it ends with it, and with the daemon.

Its output is read in pieces of 64 kB into one buffer, so that a long line costs in proportion to its length. It ends
where the server writes more than anybody could want.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from gemini_companion.adapters.processes import reaper
from gemini_companion.adapters.processes.environment import TOKEN

MAX_LINE: Final = 16 * 2**20
"""Bytes of one message: ten megabytes of media, as base64, and their frame."""
FLOOD_BYTES: Final = 96 * 2**20
"""A server that writes more within `FLOOD_SECONDS` is ended."""
FLOOD_SECONDS: Final = 10.0
GRACE: Final = 0.5
"""Seconds that a server has to end by itself once its input has ended."""
_READ: Final = 65_536
_LAST_RESORT: Final = 2.0
_MAX_LOG_LINE: Final = 500
_REAPER: Final = str(Path(reaper.__file__).resolve())


class ServerFlood(Exception):
    """The server writes too much; the message is a sentence."""


class _Report(msgspec.Struct, frozen=True):
    failed: str = ""
    exit: int | None = None
    signal: int = 0
    child: int | None = None


class ServerProcess:
    """A server's process. Made by `start`."""

    def __init__(self, process: asyncio.subprocess.Process, status: int, token: str) -> None:
        self._process = process
        self._status = status
        self._token = token
        self._said = b""
        self._writer: asyncio.StreamWriter | None = None
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when the server has ended, and all that came of it."""
        self._stopped = False
        self._logging: asyncio.Task[None] | None = None
        self._last_line = ""
        """What it wrote last for people."""
        os.set_blocking(status, False)
        self._loop.add_reader(status, self._hear)

    @classmethod
    async def start(
        cls, command: Sequence[str], *, cwd: str, env: Mapping[str, str], on_log: Callable[[str], None]
    ) -> ServerProcess:
        """Start it. Raises `OSError` where not even the reaper can be started; the rest is told when it has ended."""
        token = secrets.token_hex(16)
        status, says_status = os.pipe()
        source, given = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", _REAPER, f"{says_status}:{source}", "{}", cwd, *command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**env, TOKEN: token},
                cwd="/",
                pass_fds=(says_status, source),
                start_new_session=True,
                limit=_READ,
            )
        except BaseException:
            os.close(status)
            os.close(given)
            raise
        finally:
            os.close(says_status)
            os.close(source)
        started = cls(process, status, token)

        def heard(line: str) -> None:
            started._last_line = line
            on_log(line)

        started._logging = asyncio.create_task(started._log(heard), name="mcp server log")
        pipe = os.fdopen(given, "wb", 0)
        transport, protocol = await started._loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), pipe
        )
        started._writer = asyncio.StreamWriter(transport, protocol, None, started._loop)
        return started

    async def write(self, data: bytes) -> None:
        """Write a message. Raises `OSError` where nobody reads it any more."""
        if self._writer is None or self._writer.is_closing():
            raise BrokenPipeError
        self._writer.write(data)
        await self._writer.drain()

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines that it writes, until it ends. Raises `ServerFlood`."""
        assert self._process.stdout is not None
        buffer = bytearray()
        window, since = 0, time.monotonic()
        while data := await self._process.stdout.read(_READ):
            now = time.monotonic()
            if now - since > FLOOD_SECONDS:
                window, since = 0, now
            window += len(data)
            if window > FLOOD_BYTES:
                raise ServerFlood(f"It wrote more than {FLOOD_BYTES // 2**20} MB within {FLOOD_SECONDS:g} seconds.")
            searched = len(buffer)
            buffer += data
            begin = 0
            while (end := buffer.find(b"\n", max(begin, searched))) >= 0:
                if end > begin:
                    yield bytes(buffer[begin:end])
                begin = searched = end + 1
            del buffer[:begin]
            await asyncio.sleep(0)  # whatever a server writes, the daemon answers others
            if len(buffer) > MAX_LINE:
                raise ServerFlood(f"It wrote a message of more than {MAX_LINE // 2**20} MB. Ask it for less at once.")

    async def stop(self) -> None:
        """End its input, and a moment later whatever is left. Raises nothing; may be called twice."""
        if self._stopped:
            return
        self._stopped = True
        if self._writer is not None:
            self._writer.close()
        await asyncio.wait({self.ended}, timeout=GRACE)
        if self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.wait({self.ended}, timeout=_LAST_RESORT)
        if not self.ended.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, 9)
            from gemini_companion.adapters.processes.leftovers import end_leftovers

            await asyncio.to_thread(end_leftovers, self._report().child, self._token)
            self._hear_end()
        waiting = asyncio.create_task(self._process.wait(), name="mcp server end")
        await asyncio.wait({waiting}, timeout=0.2)
        waiting.cancel()
        if self._logging is not None:
            await asyncio.wait({self._logging}, timeout=0.1)
            self._logging.cancel()
        cast("Any", self._process)._transport.close()  # what survived would hold its pipes for ever

    async def heard_out(self, seconds: float) -> None:
        """Wait until what it wrote for people is read, so that `how_it_ended` has the last of it."""
        if self._logging is not None:
            await asyncio.wait({self._logging}, timeout=seconds)

    @property
    def how_it_ended(self) -> str:
        """A sentence about its end, and what it said last."""
        last = f" It said last: {self._last_line}" if self._last_line else ""
        return f"{self._end}{last}"

    @property
    def _end(self) -> str:
        report = self._report()
        if report.failed:
            return f"It could not be started: {report.failed}."
        if report.signal:
            return f"It was ended by signal {report.signal}."
        if report.exit is not None:
            return f"It ended by itself, with exit code {report.exit}."
        return "It ended."

    def _report(self) -> _Report:
        """What the reaper said: the id of the process first, how it ended last."""
        report = _Report()
        for line in self._said.splitlines():
            with suppress(msgspec.DecodeError):
                told = msgspec.json.decode(line, type=_Report)
                report = msgspec.structs.replace(told, child=told.child or report.child)
        return report

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            if said := os.read(self._status, _READ):
                self._said += said
                return
            self._hear_end()

    def _hear_end(self) -> None:
        if not self.ended.done():
            self._loop.remove_reader(self._status)
            os.close(self._status)
            self.ended.set_result(None)

    async def _log(self, on_log: Callable[[str], None]) -> None:
        """What it writes for people, line by line; of a flood the end of each piece."""
        assert self._process.stderr is not None
        rest = b""
        while data := await self._process.stderr.read(_READ):
            *lines, rest = (rest + data).rsplit(b"\n", 50)
            rest = rest[-4 * _MAX_LOG_LINE :]
            for line in lines:
                _tell(on_log, line.rpartition(b"\n")[2])
            await asyncio.sleep(0)
        _tell(on_log, rest)


def _tell(on_log: Callable[[str], None], line: bytes) -> None:
    text = line[: 4 * _MAX_LOG_LINE].decode("utf-8", "replace")[:_MAX_LOG_LINE].strip()
    if text:
        on_log("".join(sign if sign.isprintable() or sign == "\t" else " " for sign in text))
