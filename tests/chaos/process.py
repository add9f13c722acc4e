"""A daemon's process, forked from one with everything loaded, with its pipes and its end in the hands of the run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
from collections.abc import Mapping
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, Final

KEPT_ERRORS: Final = 200_000
"""Bytes of stderr that are kept."""

STACKS: Final = 1.0
"""Seconds for a daemon to tell what it is doing."""

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.chaos.daemon"])


def prepare() -> None:
    """Start the process that forks, and wait until it has everything loaded."""
    first = _forks.Process(target=_nothing)
    first.start()
    first.join()


class DaemonProcess:
    """One daemon. `stdin` and `stdout` are our ends of its pipes; whoever takes them closes them."""

    def __init__(self, environment: Mapping[str, str], seed: str) -> None:
        theirs_in, self.stdin = os.pipe()
        self.stdout, theirs_out = os.pipe()
        self._errors, theirs_err = os.pipe()
        theirs_orders, self._orders = os.pipe()
        given = (theirs_in, theirs_out, theirs_err, theirs_orders)
        for end in (self.stdin, self.stdout, self._errors, self._orders):
            os.set_blocking(end, False)
        self._process = _forks.Process(
            target=_run, args=(tuple(map(_Handed, given)), dict(environment), seed), daemon=True
        )
        self._process.start()
        for end in given:
            os.close(end)
        self.errors = bytearray()
        """What it wrote to stderr."""
        self.is_killed = False
        """We ended it, or told it to end itself at a step: any exit code is as it should be."""
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._loop.add_reader(self._process.sentinel, self._note_end)
        self._loop.add_reader(self._errors, self._read_errors)

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """True once it is gone."""
        return self._ended.is_set()

    @property
    def exit_code(self) -> int | None:
        """Minus the signal's number if a signal ended it; `None` while it runs."""
        return self._process.exitcode

    def order(self, **order: Any) -> None:
        """Tell the disk or the clock beneath it to misbehave."""
        with contextlib.suppress(OSError):
            os.write(self._orders, json.dumps(order).encode() + b"\n")

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.is_killed = self.is_killed or number in (signal.SIGKILL, signal.SIGTERM)
        if not self.has_ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def ended(self, seconds: float) -> bool:
        """Wait for its end; False if it is still there after so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        except TimeoutError:
            return False
        return True

    async def stacks(self) -> str:
        """What its tasks and threads are doing, as text."""
        before = len(self.errors)
        self.order(stacks=True)
        self.signal(signal.SIGCONT)
        await asyncio.sleep(STACKS)
        return self.errors[before:].decode("utf-8", "replace")

    def usage(self) -> tuple[int, int, int]:
        """Resident kilobytes, open descriptors and threads, as the system reports them; zeros if it does not."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text("utf-8")
            descriptors = len(os.listdir(f"/proc/{self.pid}/fd"))
        except OSError:
            return 0, 0, 0
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return int(fields.get("VmRSS", "0").split()[0]), descriptors, int(fields.get("Threads", "0"))

    def waits(self) -> dict[str, int]:
        """Nanoseconds that each of its threads has waited for a processor so far; empty where nobody reports it."""
        found: dict[str, int] = {}
        with contextlib.suppress(OSError, ValueError, IndexError):
            for task in os.listdir(f"/proc/{self.pid}/task"):
                found[task] = int(Path(f"/proc/{self.pid}/task/{task}/schedstat").read_bytes().split()[1])
        return found

    def _note_end(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        self._process.join()
        self._read_errors()
        with contextlib.suppress(OSError):
            self._loop.remove_reader(self._errors)
            os.close(self._errors)
            os.close(self._orders)
        self._ended.set()

    def _read_errors(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            while data := os.read(self._errors, 1 << 16):
                self.errors += data
                del self.errors[:-KEPT_ERRORS]
            self._loop.remove_reader(self._errors)


class _Handed:
    """A descriptor for a process that is about to be started; it is passed on while the process's arguments are pickled."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __reduce__(self) -> tuple[Any, ...]:
        return _as_it_is, (DupFd(self.descriptor),)


def _as_it_is(descriptor: Any) -> Any:
    return descriptor


def _run(streams: Any, environment: Mapping[str, str], seed: str) -> None:
    from tests.chaos.daemon import run  # the process that forks has it; this one need not

    run(streams, environment, seed)


def _nothing() -> None:
    """What `prepare` runs."""
