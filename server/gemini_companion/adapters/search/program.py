"""Running the program that searches: bounded in time, ended when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

_PIECE: Final = 1 << 16
_ERRORS: Final = 4_096
PLAIN: Final = str(Path(__file__).with_name("plain.py"))
"""A slow stand-in, for where there is no ripgrep. It reads the files to search from its input."""


@cache
def ripgrep() -> str | None:
    """The program: the one that is installed with us, else the system's; `None` if there is none."""
    import sysconfig  # half a megabyte, for one path

    name = "rg.exe" if os.name == "nt" else "rg"
    own = os.path.join(sysconfig.get_path("scripts"), name)
    return own if os.access(own, os.X_OK) else shutil.which("rg")


class Run:
    """A search under way."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._errors = bytearray()
        self._reading = asyncio.create_task(self._read_errors())

    async def pieces(self) -> AsyncIterator[bytes]:
        """What it writes, as it comes."""
        assert self._process.stdout is not None
        while piece := await self._process.stdout.read(_PIECE):
            yield piece

    async def end(self) -> tuple[int, str]:
        """Its exit code, and what it complained about. Only after all of its output was read."""
        await self._reading
        return await self._process.wait(), self._errors.decode("utf-8", "replace").strip()

    async def kill(self) -> None:
        """End it, whatever it does."""
        with suppress(ProcessLookupError):
            if self._process.returncode is not None:
                pass
            elif os.name == "nt":
                self._process.kill()
            else:  # `Process.kill` would take the exit code of one that has just ended from the watcher of children
                os.kill(self._process.pid, signal.SIGKILL)
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        assert self._process.stdout is not None
        with suppress(OSError):
            while await self._process.stdout.read(_PIECE):  # with output unread, its end is never noticed
                pass
        await self._process.wait()

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(_PIECE):
            self._errors += piece[: _ERRORS - len(self._errors)]


@asynccontextmanager
async def running(program: Sequence[str], *, cwd: str, given: bytes | None = None) -> AsyncGenerator[Run]:
    """Start a program with `given` as its whole input, nothing if `None`; it is ended when the context is left."""
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG", "TMPDIR") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *program,
        cwd=cwd,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL if given is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    run = Run(process)
    feeding = asyncio.create_task(_feed(process, given)) if given is not None else None
    try:
        yield run
    finally:
        if feeding is not None:
            feeding.cancel()
            with suppress(asyncio.CancelledError):
                await feeding
        await asyncio.shield(run.kill())


async def _feed(process: asyncio.subprocess.Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(given)
        await process.stdin.drain()
        process.stdin.close()


def plain_program() -> list[str]:
    """The slow stand-in, as a program to run."""
    return [sys.executable, "-I", "-S", PLAIN]
