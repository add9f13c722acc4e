"""The process that runs the model: llama.cpp's own server on a socket of its own, until standard input ends.

`python -P -m gemini_companion.adapters.local.worker`. It reads one line of JSON (`Start`), writes one (`Started`), and
then waits. The daemon holds the other end of its input, so it ends with the daemon however that ends.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from contextlib import suppress
from typing import Any, Final

import msgspec

BATCH_TOKENS: Final = 64
"""Tokens of a prompt that are read at once. Between two batches a request can be given up. Half as many cost a fifth of
the speed, twice as many gain nothing that could be measured (0.1 billion weights, two cores).
"""

REMEMBERED_MIB: Final = 256
"""Memory for the prompts of other chats, so that a switch does not read them anew."""

SMALL_FILE: Final = 32 * 1024 * 1024
"""Weights of fewer bytes run in one thread: several would wait for each other longer than they work."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What to run."""

    model: str
    window: int
    """Tokens."""
    folder: str
    """A private folder; the process removes it when it ends."""
    key: str
    """The secret that each request must bring."""
    socket: str | None
    """The path of the socket; `None` for a port of the loopback interface."""


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: the address, or what failed."""

    address: str = ""
    missing_package: str = ""
    """The import's error."""
    failed: bool = False
    """The model could not be loaded; standard error says why."""


def main() -> None:
    """Run until standard input ends."""
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what the library prints must not get between
        start = msgspec.json.decode(sys.stdin.buffer.readline(), type=Start)
        _die_with_the_daemon()
        try:
            server, started = _serve(start)
            answer.write(msgspec.json.encode(started) + b"\n")
        except OSError:
            os._exit(1)  # nobody reads
    while server is not None and sys.stdin.buffer.read(4_096):
        pass
    shutil.rmtree(start.folder, ignore_errors=True)
    if server is None:
        return  # in order: llama.cpp writes its log, which says why, on a thread of its own
    os._exit(0)  # what it computes is of no use to anyone


def _serve(start: Start) -> tuple[object, Started]:
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")  # it brings no types
    except ImportError as fault:
        return None, Started(missing_package=str(fault)[:300])
    params = xllamacpp.CommonParams()
    params.model.path = start.model
    params.n_ctx = start.window
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads(start.model)
    params.cache_ram_mib = REMEMBERED_MIB
    params.prefill_assistant = False
    params.fit_params = False
    params.warmup = False
    params.ui = False
    params.offline = True
    params.verbosity = 1  # errors alone; more would have prompts in it
    params.sse_ping_interval = -1
    params.api_keys = [start.key]
    params.cors_origins = ""
    params.hostnames = [start.socket or "127.0.0.1"]
    params.port = 0
    try:
        server = xllamacpp.Server(params)
    except Exception:  # whatever the library throws
        return None, Started(failed=True)
    return server, Started(address=str(server.listening_address))


def _threads(model: str) -> int:
    """As many as there are cores for us, of many only half: two on one core gain nothing."""
    with suppress(OSError):
        if os.stat(model).st_size < SMALL_FILE:
            return 1
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return cores if cores <= 4 else cores // 2


def _die_with_the_daemon() -> None:
    """On Linux: end at once if the daemon is killed, also while weights are loaded; be the first to go without memory.

    Elsewhere the end of the input is noticed when the weights are loaded.
    """
    if sys.platform != "linux":
        return
    import ctypes
    import signal

    parent = os.getppid()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")


if __name__ == "__main__":
    main()
