"""The daemon of a chaos run: the product as it is wired, on a disk and by a clock that can be told to misbehave.

`run` is called in a process that was forked from one which had all modules loaded already, so that a run can afford
hundreds of them. Orders come as JSON lines on a descriptor of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import faulthandler
import gc
import importlib
import json
import logging
import os
import random
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from gemini_companion.adapters import clock
from gemini_companion.wiring.daemon import serve_stdio
from tests.chaos import disk
from tests.chaos.disk import Disk

HURRY: Final = 0.15
"""How long a wait of the daemon's own (before a retry) takes here, as a share of what it asks for."""

for module in (
    "gemini_companion.adapters.gemini.provider",
    "gemini_companion.adapters.gemini.sdk",
    "gemini_companion.adapters.offline.provider",
    "gemini_companion.adapters.storage.database",
    "gemini_companion.adapters.storage.store",
    "gemini_companion.adapters.watching",
    "gemini_companion.adapters.workspace.disk",
    "gemini_companion.protocol.binding",
    "gemini_companion.protocol.error_data",
    "gemini_companion.protocol.handshake",
    "gemini_companion.protocol.server",
    "gemini_companion.protocol.transport",
    "gemini_companion.sessions.maintenance",
    "gemini_companion.settings.service",
    "anyio._backends._asyncio",
    "httpcore2",
    "watchfiles",
):  # what a daemon loads by and by: here it is inherited
    importlib.import_module(module)

RealClock = clock.SystemClock


class FaultyClock(RealClock):
    """The system's clock, which somebody may set while the daemon runs. What promises to be monotonic is."""

    offset_ms = 0

    def now(self) -> int:
        return super().now() + FaultyClock.offset_ms

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * HURRY)


class Inherited(Protocol):
    """A descriptor that came with the fork."""

    def detach(self) -> int:
        """Its number."""
        ...


def run(streams: Sequence[Inherited], environment: Mapping[str, str], seed: str) -> None:
    """Serve stdin and stdout until they end. `streams` are stdin, stdout, stderr, and where orders come from."""
    taken = [stream.detach() for stream in streams]
    for number, descriptor in enumerate(taken[:3]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.umask(0o022)
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    logging.basicConfig(level="WARNING", stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s", force=True)
    faulty = Disk(environment["COMPANION_DATA_DIR"], random.Random(seed))
    disk.install(faulty)
    clock.SystemClock = FaultyClock
    for order in json.loads(environment.get("CHAOS_ORDERS", "[]")):
        _obey(faulty, order)
    threading.Thread(target=_listen, args=(faulty, taken[3]), daemon=True).start()
    code = serve_stdio(os.environ)
    if counted := environment.get("CHAOS_COUNT"):
        Path(counted).write_text(json.dumps({"steps": faulty.steps, "onDisk": faulty.on_disk}), "utf-8")
    sys.exit(code)


def _listen(faulty: Disk, descriptor: int) -> None:
    with open(descriptor, encoding="utf-8") as orders:
        for line in orders:
            _obey(faulty, json.loads(line))


def _obey(faulty: Disk, order: Mapping[str, Any]) -> None:
    """Follow one order: `{"disk": mood, "delay"?: seconds}`, `{"clock": offset in ms}`, `{"dieAt": step, "moment": …}`,
    `{"tidy": true}` (give back what is not used, so that what remains is), `{"stacks": true}`.
    """
    if "disk" in order:
        faulty.change(order["disk"], order.get("delay", 0.0))
    if "clock" in order:
        FaultyClock.offset_ms = order["clock"]
    if "dieAt" in order:
        faulty.die_at(order["dieAt"], order["moment"])
    if "tidy" in order:
        gc.collect()
        if sys.platform == "linux":
            with contextlib.suppress(OSError, AttributeError):  # another C library
                ctypes.CDLL(None).malloc_trim(0)
    if "stacks" in order:
        faulthandler.dump_traceback(sys.stderr)
        for task in [each for each in gc.get_objects() if isinstance(each, asyncio.Task) and not each.done()]:
            task.print_stack(file=sys.stderr)
