"""The worker process as the daemon sees it: started with a model, spoken to over its socket, ended.

A process of its own, since llama.cpp ends the process on what it does not expect (a damaged file, no memory), and a
daemon that holds everybody's chats must not go with it; and since memory comes back whole when it ends.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import socket
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from gemini_companion.adapters.local.file import LocalModel, available_memory, check_memory, printable
from gemini_companion.adapters.local.folder import SOCKET_NAME, SocketFolder, remove_abandoned
from gemini_companion.adapters.local.worker import Start, Started
from gemini_companion.engine.errors import ModelUnavailable

LOAD_SECONDS: Final = 900.0
"""Longest time that loading may take: tens of gigabytes from a slow disk."""

_SOCKET_PATH_BYTES: Final = 100
"""The longest path of a socket; systems take 104 or 108 bytes."""
_ENDING_SECONDS: Final = 2.0
"""How long a process that broke a connection may take to end."""
_KEPT_LINES: Final = 40
_LINE_BYTES: Final = 2_000
_MODULE: Final = "gemini_companion.adapters.local.worker"
_SECRET: Final = re.compile(r"^(GEMINI|GOOGLE)|KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_REASON: Final = re.compile(r"error loading model: (?:llama_model_loader: )?(?P<reason>.+)")
_NO_MEMORY: Final = re.compile(
    r"out of memory|bad_alloc|failed to allocate|cannot allocate|unable to allocate", re.IGNORECASE
)
_FILE_HINT: Final = "The file may be incomplete: get it again, or set `model.local` to another one."
_MEMORY_HINT: Final = "Close other programs, set `model.tokenLimit` lower, or choose a smaller file."


class Worker:
    """A running process with a loaded model."""

    def __init__(
        self, model: LocalModel, process: asyncio.subprocess.Process, start: Start, folder: SocketFolder
    ) -> None:
        self.model = model
        self.key = start.key
        self.socket = start.socket
        self.address = ""
        """Its address, where it has no `socket`."""
        self._folder = folder
        self._process = process
        self._log: deque[str] = deque(maxlen=_KEPT_LINES)
        self._drain = asyncio.create_task(_drain(process, self._log), name="local:log")

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """False once the process has ended."""
        return self._process.returncode is None

    async def end(self) -> None:
        """Kill the process and remove its folder. What it computes is lost, and nothing else."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._drain
        await asyncio.to_thread(self._folder.remove)

    async def fault(self, silent_seconds: float | None = None) -> ModelUnavailable:
        """Why a request got no answer: how the process ended, or that it was silent for so long, and is ended now."""
        name = self.model.title
        if silent_seconds is not None:
            await self.end()
            return ModelUnavailable(
                f"{name} said nothing for {silent_seconds / 60:,.0f} minutes, and was stopped.",
                hint="Choose a smaller file in `model.local`, or compress the chat.",
                retryable=False,
            )
        code = await self._own_end()
        if any(map(_NO_MEMORY.search, self._log)):
            return ModelUnavailable(f"{name} ran out of memory.", hint=_MEMORY_HINT, retryable=False)
        return ModelUnavailable(
            f"The process that runs {name} {_ending(code)}.", hint="It is started again when it is needed."
        )

    async def _own_end(self) -> int | None:
        """See that the process ends. Its exit code; `None` if it did not end by itself, and was killed here."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_SECONDS):
                await self._process.wait()
        code = self._process.returncode
        await self.end()
        return code

    async def wait_until_loaded(self) -> None:
        """Raises `ModelUnavailable` with what to do if the model cannot be loaded; the process has ended then."""
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                started = await self._started()
        except TimeoutError:
            await self.end()
            raise ModelUnavailable(
                f"{self.model.title} was not loaded within {LOAD_SECONDS / 60:.0f} minutes.",
                hint="Choose a smaller file in `model.local`.",
                retryable=False,
            ) from None
        if started is not None and started.address:
            self.address = started.address
            return
        raise self._load_fault(started, await self._own_end())

    async def _started(self) -> Started | None:
        """What the process says; `None` if it ended before it said anything."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        try:
            return msgspec.json.decode(line, type=Started)
        except msgspec.DecodeError:
            return None

    def _load_fault(self, started: Started | None, code: int | None) -> ModelUnavailable:
        name = self.model.title
        if started is not None and started.missing_package:
            why = printable(started.missing_package)
            return ModelUnavailable(
                f"The package that runs models on this machine is not installed ({why}).",
                hint=f'Run: "{sys.executable}" -m pip install xllamacpp — then send the prompt again.',
                retryable=False,
            )
        if any(map(_NO_MEMORY.search, self._log)) or code == -signal.SIGKILL:
            return ModelUnavailable(f"There is not enough memory to load {name}.", hint=_MEMORY_HINT, retryable=False)
        reasons = [match["reason"] for match in map(_REASON.search, self._log) if match]
        silent = "llama.cpp gives no reason" if started is not None else f"llama.cpp {_ending(code)}"
        why = printable(reasons[-1])[:200].rstrip(".") if reasons else silent
        return ModelUnavailable(f"{name} cannot be loaded: {why}.", hint=_FILE_HINT, retryable=False)


async def start_worker(model: LocalModel, env: Mapping[str, str]) -> Worker:
    """Start a process for a model and wait until that is loaded. Raises `ModelUnavailable`."""
    check_memory(model, available_memory())
    await asyncio.to_thread(remove_abandoned)
    folder = await asyncio.to_thread(_made_folder)
    path = os.path.join(folder.path, SOCKET_NAME)
    with_socket = hasattr(socket, "AF_UNIX") and os.name == "posix" and len(os.fsencode(path)) <= _SOCKET_PATH_BYTES
    start = Start(
        model=model.path,
        window=model.window,
        folder=folder.path,
        key=secrets.token_urlsafe(24),
        socket=path if with_socket else None,
    )
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            _MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment_of_worker(env),
            limit=_LINE_BYTES * 32,
        )
    except OSError as fault:
        await asyncio.to_thread(folder.remove)
        raise ModelUnavailable(f"The process that runs models could not be started ({fault.strerror}).") from None
    worker = Worker(model, process, start, folder)
    assert process.stdin is not None
    try:
        with suppress(ConnectionError):  # it ended already, and `wait_until_loaded` says so
            process.stdin.write(msgspec.json.encode(start) + b"\n")
            await process.stdin.drain()
        await worker.wait_until_loaded()
    except BaseException:
        await asyncio.shield(worker.end())
        raise
    return worker


def _ending(code: int | None) -> str:
    """How a process ended, as the end of a sentence; `None` if it did not end by itself."""
    if code is None:
        return "said nothing more and was stopped"
    return f"was ended by {signal_name(-code)}" if code < 0 else f"ended with {code}"


def _made_folder() -> SocketFolder:
    try:
        return SocketFolder()
    except OSError as fault:
        raise ModelUnavailable(
            f"No folder for the socket of the model on this machine could be made ({fault.strerror}).",
            hint="Look whether the disk is full, and whether the folder for temporary files may be written to.",
        ) from None


def signal_name(number: int) -> str:
    """A signal's name; its number where it has none, as most of the real-time signals."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def environment_of_worker(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without anything that looks like a secret: the process needs none.

    Threads that wait for each other sleep: on a machine that has other work to do, spinning made them ten times slower.
    """
    kept = {name: value for name, value in env.items() if not _SECRET.search(name)}
    return {"OMP_WAIT_POLICY": "passive", **kept}


async def _drain(process: asyncio.subprocess.Process, log: deque[str]) -> None:
    """Keep the last lines of the process's standard error."""
    assert process.stderr is not None
    rest = b""
    while data := await process.stderr.read(4_096):
        *lines, rest = (rest + data).split(b"\n")
        rest = rest[-_LINE_BYTES:]
        log.extend(line[:_LINE_BYTES].decode("utf-8", "replace") for line in lines)
    if rest:
        log.append(rest.decode("utf-8", "replace"))
