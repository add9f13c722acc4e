"""Ends what a command left running when nothing stands above it any more.

Import it where something has ended: psutil, which lists the system's processes, takes as long as thirty other modules.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import psutil

from gemini_companion.adapters.processes.environment import TOKEN

PATIENCE: Final = 1.0
"""Seconds that forcing may take."""
_PAUSE: Final = 0.01


def end_leftovers(session: int | None, token: str) -> tuple[str, ...]:
    """End the processes of a session, those that have the token, and all below them; those that could not be ended.

    What left its session, its parents and its environment is not found. Blocks for up to `PATIENCE` seconds.
    """
    until = time.monotonic() + PATIENCE
    empty = 0
    left: list[psutil.Process] = []
    # What is found may have started another process meanwhile: only twice nothing is the end.
    while empty < 2 and time.monotonic() < until:
        left = list(_found(session, token))
        empty = 0 if left else empty + 1
        for process in left:
            with suppress(psutil.Error):
                process.suspend()
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        if left:
            psutil.wait_procs(left, timeout=_PAUSE)
    return tuple(f"{_name(process)} ({process.pid})" for process in left if process.is_running())


def _found(session: int | None, token: str) -> Iterator[psutil.Process]:
    seen = {os.getpid()}
    for process in psutil.process_iter():
        if process.pid in seen or not _belongs(process, session, token):
            continue
        with suppress(psutil.Error):
            for one in (process, *process.children(recursive=True)):
                if one.pid not in seen and _is_alive(one):
                    seen.add(one.pid)
                    yield one


def _belongs(process: psutil.Process, session: int | None, token: str) -> bool:
    with suppress(OSError, psutil.Error):
        if session is not None and os.getsid(process.pid) == session:
            return True
        return bool(token) and process.environ().get(TOKEN) == token
    return False


def _is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    return False


def _name(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return process.name()
    return "a process"
