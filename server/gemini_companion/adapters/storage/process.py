"""The identity of a process, which tells it apart from a later process with the same number."""

from __future__ import annotations

import os
import sys
from typing import Final, Protocol

import msgspec

_PS_SECONDS: Final = 2.0
_START_TIME_FIELD: Final = 19
"""Index in `/proc/<pid>/stat` after the name: field 22 of proc(5), clock ticks from boot to the process's start."""


class ProcessIdentity(msgspec.Struct, frozen=True):
    """A process, unique among all that may ever share a data directory."""

    machine: str
    """Host name and process-number space: the scope of a `pid`."""
    pid: int
    started: str
    """When it started, in a form that depends on the system; empty if the system does not report it."""


class ProcessTable(Protocol):
    """The system's knowledge of processes."""

    def me(self) -> ProcessIdentity:
        """This process."""
        ...

    def is_alive(self, process: ProcessIdentity) -> bool | None:
        """True or False if that is certain, `None` if it cannot be known from here."""
        ...


class SystemProcesses:
    """`ProcessTable` by `/proc`, or by `ps` where there is none."""

    def me(self) -> ProcessIdentity:
        """This process."""
        pid = os.getpid()
        return ProcessIdentity(_machine(), pid, _started(pid) or "")

    def is_alive(self, process: ProcessIdentity) -> bool | None:
        """Certain only on the same machine, and only if the system reports when a process started."""
        if process.machine != _machine():
            return None
        started = _started(process.pid)
        if started is None:
            return False
        return started == process.started if started and process.started else None


def _machine() -> str:
    import socket

    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}".strip()


def _started(pid: int) -> str | None:
    """When the process started; empty if the system does not report it, `None` if there is no such process."""
    if sys.platform == "win32":
        return ""  # os.kill(pid, 0) would end it there; without a start time only the heartbeat counts
    try:
        boot = _read("/proc/sys/kernel/random/boot_id").strip()
    except OSError:
        return _started_by_ps(pid)
    try:
        # The name is in brackets and may itself contain spaces and brackets.
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        return None if fields[0] == "Z" else f"{boot} {fields[_START_TIME_FIELD]}"
    except (FileNotFoundError, ProcessLookupError):
        return None
    except (OSError, IndexError):
        return ""


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _started_by_ps(pid: int) -> str | None:
    import subprocess

    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_PS_SECONDS, env={**os.environ, "LC_ALL": "C"}, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip() or None
