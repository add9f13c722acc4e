"""Feeding one kind of input, and what comes of it."""

from __future__ import annotations

import asyncio
import base64
import gc
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from tests.fuzz.kinds import Feed, Kind
from tests.fuzz.mutation import mutated
from tests.hostile.timing import slowness

try:
    import resource
except ImportError:  # Windows
    resource = None

_WARM: Final = 0.2
"""Share of the inputs after which memory is measured for the first time: caches are full then."""
_SHOWN: Final = 5
_NOTEWORTHY: Final = 20.0
"""CPU milliseconds from which on they are set against what the machine gives just now."""


class Outcome(NamedTuple):
    """What came of a run. `slowest` is CPU milliseconds of the known machine of `tests.hostile.timing`; `growth` is by how many bytes the peak of memory rose after the first fifth."""

    kind: str
    inputs: int
    slowest: float
    slowest_input: bytes
    crashes: tuple[str, ...]
    growth: int

    def line(self) -> str:
        """For people."""
        shown = [f"    {crash}" for crash in self.crashes[:_SHOWN]]
        head = f"{self.kind:10} {self.inputs:>9,} inputs, slowest {self.slowest:7.1f} ms, {len(self.crashes)} kinds of crashes"
        return "\n".join([f"{head}, memory {self.growth / 1024:+,.0f} KiB", *shown])


def run(kind: Kind, count: int, seed: int, tell: Callable[[str], None] = lambda _: None) -> Outcome:
    """Feed `count` mutated inputs. The same seed gives the same inputs."""
    return asyncio.run(_run(kind, count, seed, tell))


async def _run(kind: Kind, count: int, seed: int, tell: Callable[[str], None]) -> Outcome:
    rng = random.Random(f"{kind.name} {seed}")
    crashes: Counter[str] = Counter()
    examples: dict[str, bytes] = {}
    slowest, slowest_input = 0.0, b""
    measured = 0
    asyncio.get_running_loop().set_exception_handler(lambda _, context: crashes.update([f"unhandled: {context}"[:300]]))
    async with kind.open() as feed:
        for number in range(count):
            if number == int(count * _WARM):
                measured = _memory()
            data = mutated(kind.seeds, rng)
            begin = time.thread_time()
            try:
                await feed(data)
            except Exception as fault:
                place = fault.__traceback__
                while place and place.tb_next:
                    place = place.tb_next
                where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
                crash = f"{type(fault).__name__} at {where}: {fault}"[:300]
                crashes[crash] += 1
                examples.setdefault(crash, data)
            taken = (time.thread_time() - begin) * 1_000
            if taken > slowest:
                again = await _again(feed, data)
                taken = min(taken, again)
                if taken > _NOTEWORTHY:
                    taken /= slowness()
                if taken > slowest:
                    slowest, slowest_input = taken, data
            if number % 64 == 0:
                await asyncio.sleep(0)  # the tasks of what was asked
            if number % 10_000 == 9_999:
                tell(f"{kind.name}: {number + 1:,}")
        await asyncio.sleep(0)
        growth = _memory() - measured
    texts = tuple(
        f"{number}x {crash} <- {base64.b64encode(examples.get(crash, b'')[:600]).decode()}"
        for crash, number in crashes.most_common()
    )
    return Outcome(kind.name, count, slowest, slowest_input, texts, growth)


async def _again(feed: Feed, data: bytes) -> float:
    """The least CPU milliseconds of two more times: a pause of the collector is no cost of the input."""
    least = float("inf")
    for _ in range(2):
        begin = time.thread_time()
        with suppress(Exception):  # counted already
            await feed(data)
        least = min(least, (time.thread_time() - begin) * 1_000)
    return least


def _memory() -> int:
    """The most bytes that this process has used so far; 0 where that is not known."""
    gc.collect()
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
