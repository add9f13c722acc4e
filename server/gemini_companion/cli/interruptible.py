"""Running a command so that Ctrl+C ends it, whenever it is pressed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import threading
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

_T = TypeVar("_T")


def run_interruptibly(main: Coroutine[Any, Any, _T]) -> _T:
    """`asyncio.run`, but no interrupt is missed. Raises `KeyboardInterrupt` once the coroutine has been cancelled.

    Python notes a signal and handles it with its next instruction. If it comes when the loop is about to wait for the
    system, or is handled by another thread, there is no next instruction until something else happens, which may be
    never. `asyncio.run` does not guard against that on Unix; a byte in a socket that the loop waits for does.
    """
    try:
        with asyncio.Runner() as runner, _woken_by_signals(runner.get_loop()):
            return runner.run(main)
    finally:
        main.close()  # interrupted before its first step it would complain that nobody awaited it


@contextlib.contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """Let every signal wake the loop. On Windows it is so already; off the main thread signals are somebody else's."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    with reader, writer:
        for end in (reader, writer):
            end.setblocking(False)
        loop.add_reader(reader, reader.recv, 4096)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(reader)
