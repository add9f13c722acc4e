"""Runs one hook: the command in a session of its own under a reaper, with its input in a file without a name.

The reaper ends everything that comes of it, also what ignores being asked, and also when the daemon is killed. Nothing
waits for a pipe that a survivor holds.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final, cast

import msgspec

from gemini_companion.adapters.hooks.environment import for_others, scrubbed
from gemini_companion.adapters.processes import reaper
from gemini_companion.adapters.processes.environment import TOKEN, program_finder
from gemini_companion.engine.hooks.answers import MAX_OUTPUT_BYTES, MAX_WRITTEN_BYTES, HookEnd, text_of
from gemini_companion.settings.programs import why_not_run

_REAPER: Final = str(Path(reaper.__file__).resolve())
_LINE: Final = "GEMINI_COMPANION_HOOK"
_BY_NAME: Final = f'exec <&{{}}; set -- "${_LINE}"; unset {_LINE}; eval "set --; $1"'
"""What the shell is given: the line itself stands in its environment, which only its owner reads, and not among the
arguments, which everybody on the machine does.
"""
_READ: Final = 65_536
_LAST_RESORT: Final = 2.0
"""Seconds after which the reaper itself is ended."""
_END_OF_OUTPUT: Final = 0.2
"""Seconds that a pipe may stay open after everything has ended."""


class _Report(msgspec.Struct, frozen=True):
    """The reaper's last line."""

    failed: str = ""
    exit: int | None = None


class _Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reaper's first line."""

    child: int


class HookProcesses:
    """Runs hooks. `environment` is the daemon's own, of which hooks get no secret."""

    def __init__(self, environment: Mapping[str, str], *, platform: str = sys.platform) -> None:
        self._given = environment
        self._platform = platform

    @cached_property
    def _environment(self) -> dict[str, str]:
        """Found out with the first hook: most people have none, and every start would pay for it."""
        return scrubbed(self._given)

    @cached_property
    def _for_others(self) -> dict[str, str]:
        return for_others(self._given)

    @cached_property
    def _shell(self) -> str | None:
        find = program_finder(self._given)
        return find("bash") or find("sh")

    async def run(
        self,
        command: str,
        *,
        cwd: str,
        stdin: bytes,
        env: Mapping[str, str],
        limit_seconds: float,
        is_own: bool = False,
    ) -> HookEnd:
        """Run a shell's line to its end; nothing of it is left then. Raises nothing but `CancelledError`.

        `env` is added to the environment: without its secrets for the person's `own`, else of harmless names alone. It
        takes at most three seconds longer than its limit.
        """
        if self._platform == "win32":
            return HookEnd(failed="hooks cannot be run on Windows yet")
        if (shell := self._shell) is None:
            return HookEnd(failed="there is neither bash nor sh on this machine")
        if reason := await asyncio.to_thread(why_not_run, command, (cwd,)):
            return HookEnd(withheld=f"it is not run, for it would run {reason}")
        started = time.monotonic()
        try:
            around = self._environment if is_own else self._for_others
            run = await _start(shell, command, cwd, stdin, {**around, **env})
        except OSError as fault:
            return HookEnd(failed=f"it could not be started ({fault.strerror or type(fault).__name__})")
        try:
            end = await run.finish(limit_seconds)
        except asyncio.CancelledError:
            await asyncio.shield(run.stop())
            raise
        return msgspec.structs.replace(end, duration_ms=round((time.monotonic() - started) * 1000))


class _Capture:
    """The end of what comes out of a pipe, and how it began."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._start = b""
        self._written = 0

    @property
    def is_over(self) -> bool:
        return self._written > MAX_WRITTEN_BYTES

    @property
    def is_cut(self) -> bool:
        return self._written > len(self._data)

    @property
    def is_empty(self) -> bool:
        return not self._data

    def take(self, data: bytes) -> None:
        self._start = (self._start + data)[:4]
        self._written += len(data)
        self._data += data
        if len(self._data) >= 2 * MAX_OUTPUT_BYTES:
            self._cut()

    def text(self) -> str:
        if len(self._data) > MAX_OUTPUT_BYTES:
            self._cut()
        return text_of(bytes(self._data), self._start)

    def _cut(self) -> None:
        """Whole signs of UTF-16 and UTF-32 go."""
        del self._data[: (len(self._data) - MAX_OUTPUT_BYTES + 3) // 4 * 4]


class _Run:
    """A hook under way."""

    def __init__(self, process: asyncio.subprocess.Process, status: int, token: str) -> None:
        self._process = process
        self._status = status
        self._token = token
        self._said = b""
        self._loop = asyncio.get_running_loop()
        self._reported: asyncio.Future[None] = self._loop.create_future()
        self._flooded = asyncio.Event()
        self._out, self._err = _Capture(), _Capture()
        os.set_blocking(status, False)
        self._loop.add_reader(status, self._hear)
        assert process.stdout is not None
        assert process.stderr is not None
        self._reading = {
            asyncio.create_task(self._read(process.stdout, self._out), name="hook output"),
            asyncio.create_task(self._read(process.stderr, self._err), name="hook errors"),
        }

    async def finish(self, limit_seconds: float) -> HookEnd:
        """Until it ends, its time is over, or it has written too much."""
        flooded = asyncio.create_task(self._flooded.wait(), name="hook flood")
        try:
            await asyncio.wait({self._reported, flooded}, timeout=limit_seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            flooded.cancel()
        timed_out = not self._reported.done() and not self._flooded.is_set()
        return await self.stop(timed_out=timed_out)

    async def stop(self, *, timed_out: bool = False) -> HookEnd:
        """End what still runs."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.wait({self._reported}, timeout=_LAST_RESORT)
        self._loop.remove_reader(self._status)
        os.close(self._status)
        if not self._reported.done():
            self._reported.cancel()
        if self._process.returncode is None:
            waiting = asyncio.create_task(self._process.wait(), name="hook end")
            await asyncio.wait({waiting}, timeout=_END_OF_OUTPUT)
            if not waiting.done():
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, 9)
            waiting.cancel()
        await asyncio.wait(self._reading, timeout=_END_OF_OUTPUT)
        for task in self._reading:
            task.cancel()
        # What flooded, or survived, still holds a pipe: without this, it would never be closed.
        cast("Any", self._process)._transport.close()
        report = await self._report()
        return HookEnd(
            stdout=self._out.text(),
            stderr=self._err.text(),
            exit_code=report.exit,
            timed_out=timed_out,
            flooded=self._flooded.is_set(),
            is_cut=self._out.is_cut or (self._out.is_empty and self._err.is_cut),
            failed=f"it could not be started ({report.failed})" if report.failed else "",
        )

    async def _read(self, pipe: asyncio.StreamReader, into: _Capture) -> None:
        while data := await pipe.read(_READ):
            into.take(data)
            if into.is_over:
                self._flooded.set()
                return

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            if said := os.read(self._status, _READ):
                self._said += said
                return
            self._loop.remove_reader(self._status)
            if not self._reported.done():
                self._reported.set_result(None)

    async def _report(self) -> _Report:
        """The reaper's report. Where there is none, what it left running is looked for and ended."""
        first, _, last = self._said.partition(b"\n")
        child: int | None = None
        with suppress(msgspec.DecodeError):
            child = msgspec.json.decode(first, type=_Begun).child
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(first if child is None else last, type=_Report)
        from gemini_companion.adapters.processes.leftovers import end_leftovers

        await asyncio.to_thread(end_leftovers, child, self._token)
        return _Report()


async def _start(shell: str, command: str, cwd: str, stdin: bytes, env: Mapping[str, str]) -> _Run:
    source = await asyncio.to_thread(_file_with, stdin)
    token = secrets.token_hex(16)
    try:
        status, says_status = os.pipe()
    except OSError:
        source.close()
        raise
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            _REAPER,
            str(says_status),
            "{}",
            cwd,
            *(shell, "-c", _BY_NAME.format(source.fileno())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**env, TOKEN: token, _LINE: command},
            cwd="/",
            pass_fds=(says_status, source.fileno()),
            start_new_session=True,
            limit=_READ,
        )
    except BaseException:
        os.close(status)
        raise
    finally:
        os.close(says_status)
        source.close()
    return _Run(process, status, token)


def _file_with(data: bytes) -> IO[bytes]:
    """A file without a name that has `data`, at its beginning; in memory where that can be, so on no disk."""
    in_memory = hasattr(os, "memfd_create")
    file = open(os.memfd_create("hook"), "w+b") if in_memory else tempfile.TemporaryFile()  # noqa: SIM115 – is returned
    try:
        file.write(data)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file
