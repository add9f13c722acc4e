"""One command under way, from its reaper's start to its end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast

import msgspec

from gemini_companion.adapters.processes.output import Output
from gemini_companion.tools.ports import CommandEnd
from gemini_companion.tools.tool import ToolRefusal

READ: Final = 65_536
END_OF_OUTPUT: Final = 0.2
"""Seconds that the pipe may stay open after everything has ended: then something that survived holds it."""
LOOK_AGAIN: Final = 60.0
"""Seconds between two looks at what a command has made, while it runs."""
LAST_RESORT: Final = 2.0
"""Seconds after which the reaper itself is ended."""


class Report(msgspec.Struct, frozen=True):
    """How a command ended, as its reaper reports it."""

    failed: str = ""
    exit: int | None = None
    signal: int = 0
    survivors: tuple[str, ...] = ()
    is_lost: bool = False
    """The reaper ended without a report."""


class _Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the reaper says first: the process, and session, of the command."""

    child: int


class ReapedCommand:
    """A command, behind its reaper. Made by `Runner.start`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        status: int,
        output: Output,
        *,
        limit_seconds: float | None,
        silence_seconds: float | None,
        sandbox: str,
        token: str,
        on_output: Callable[[str], None],
        on_look: Callable[[], tuple[str, ...]],
        on_end: Callable[[], tuple[str, ...]],
    ) -> None:
        self._process = process
        self._status = status
        self._output = output
        self._limit = limit_seconds
        self._silence = silence_seconds
        self._sandbox = sandbox
        self._token = token
        self._on_output = on_output
        self._on_look = on_look
        self._on_end = on_end
        self._disarmed: tuple[str, ...] = ()
        self._timed_out = False
        self._loop = asyncio.get_running_loop()
        self._last_output = self._started = self._loop.time()
        self._said = b""
        # The end of the descriptor, and not of the process: that counts only when nothing holds its pipes any more.
        self._reported: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(status, False)
        self._loop.add_reader(status, self._hear)
        self._reading = asyncio.create_task(self._read())
        self._ending = asyncio.create_task(self._end())

    @property
    def pid(self) -> int:
        """Its reaper's process id, under which all of it stands."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Nothing of it runs any more."""
        return self._ending.done()

    async def wait(self) -> CommandEnd:
        """Until it ends, or its time is over. Cancelled, it stops everything before it goes."""
        try:
            return await asyncio.shield(self._ending)
        except asyncio.CancelledError:
            self._let_end()
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self._ending)
            self.discard()  # whoever was to take the output is gone
            raise

    async def stop(self) -> CommandEnd:
        """End it and all that it started."""
        self._let_end()
        return await asyncio.shield(self._ending)

    def latest(self, characters: int = 4000) -> str:
        """The last of its output so far."""
        return self._output.latest(characters)

    def discard(self) -> None:
        """Nobody needs the file with its output any more."""
        self._output.discard()

    def _let_end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._loop.call_later(LAST_RESORT, self._force)

    def _force(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        while data := await pipe.read(READ):
            self._last_output = self._loop.time()
            await self._take(data)
        await self._take(b"", is_last=True)

    async def _take(self, data: bytes, *, is_last: bool = False) -> None:
        lines = self._output.lines
        if strange := lines.strange(data, is_last=is_last):
            await asyncio.to_thread(lines.guess, strange)
        text = self._output.add(data, is_last=is_last)
        if data and not self._output.spill_note:
            await asyncio.to_thread(self._output.spill, data)
        if text:
            self._on_output(text)

    async def _end(self) -> CommandEnd:
        waiting = asyncio.create_task(self._process.wait())
        try:
            await self._in_time(self._reported)
            report = await self._report()
            await asyncio.wait((self._reading,), timeout=END_OF_OUTPUT)
            await asyncio.wait((waiting,), timeout=END_OF_OUTPUT)
        finally:
            self._loop.remove_reader(self._status)
            waiting.cancel()
            if not self._reading.done():
                self._reading.cancel()
                # Something that survived holds the pipe: without this, it would never be closed.
                cast("Any", self._process)._transport.close()
            os.close(self._status)
            await asyncio.to_thread(self._output.close)
            self._disarmed += await asyncio.to_thread(self._on_end)
        if report.failed:
            raise ToolRefusal(f"The command could not be started. {report.failed}")
        return CommandEnd(
            exit_code=report.exit,
            signal=_named(report.signal),
            output=self._output.text(),
            repaints=self._output.repaints,
            guessed=self._output.lines.guessed,
            total_bytes=self._output.total_bytes,
            spill_path=self._output.spill_path,
            timed_out=self._timed_out,
            survivors=report.survivors,
            is_lost=report.is_lost,
            sandbox=self._sandbox,
            disarmed=self._disarmed,
        )

    async def _in_time(self, waiting: asyncio.Future[None]) -> None:
        """Wait for the reaper; stop the command when it has been silent, or running, for too long."""
        looked = self._started
        while not waiting.done():
            now = self._loop.time()
            if now - looked >= LOOK_AGAIN:
                new = await asyncio.to_thread(self._on_look)
                self._disarmed += tuple(one for one in new if one not in self._disarmed)
                looked = now = self._loop.time()
            left = looked + LOOK_AGAIN - now
            bounds = [self._started + self._limit] if self._limit is not None else []
            if self._silence is not None:
                bounds.append(self._last_output + self._silence)
            if bounds and not self._timed_out:
                left = min(left, min(bounds) - now)
                if min(bounds) <= now:
                    self._timed_out = True
                    self._let_end()
                    continue
            await asyncio.wait((waiting,), timeout=left)

    def _hear(self) -> None:
        """Take in what the reaper says; at its end nothing more comes."""
        with suppress(BlockingIOError):
            if said := os.read(self._status, READ):
                self._said += said
                return
            self._loop.remove_reader(self._status)
            if not self._reported.done():
                self._reported.set_result(None)

    async def _report(self) -> Report:
        """The reaper's report. A command can end its reaper: then what it left running is looked for and ended here."""
        first, _, last = self._said.partition(b"\n")
        child: int | None = None
        with suppress(msgspec.DecodeError):
            child = msgspec.json.decode(first, type=_Begun).child
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(first if child is None else last, type=Report)
        from gemini_companion.adapters.processes.leftovers import end_leftovers

        left = await asyncio.to_thread(end_leftovers, child, self._token)
        return Report(survivors=left, is_lost=True)


def _named(number: int) -> str:
    try:
        return signal.Signals(number).name if number else ""
    except ValueError:
        return str(number)
