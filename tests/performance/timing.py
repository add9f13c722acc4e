"""Time and memory."""

from __future__ import annotations

import gc
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Cost(NamedTuple):
    """What a call takes."""

    ms: float
    """Milliseconds by the clock."""
    processor: float
    """Milliseconds of processor time, of all threads of the process."""


def cost(work: Callable[[], object]) -> Cost:
    """What one call takes."""
    used, started = time.process_time(), time.perf_counter()
    work()
    return Cost((time.perf_counter() - started) * 1_000, (time.process_time() - used) * 1_000)


def interleaved(contenders: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Each contender's figures, taken in turns so that a busy moment of the machine meets all of them."""
    figures: dict[str, list[T]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            figures[name].append(measure())
    return figures


def settled(work: Callable[[], T]) -> T:
    """Do something that builds much, and have the garbage of it collected before anything is measured."""
    built = work()
    gc.collect()
    return built


def resident_mib(pid: int) -> float:
    """Resident memory of a process in MiB. Raises `OSError` where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text("utf-8").splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
    if not told.stdout.strip():
        raise OSError(f"no resident memory is known of process {pid}")
    return int(told.stdout) / 1024


def descendants(pid: int) -> list[int]:
    """Process ids of children and their children; none where the system does not tell.

    The system lists a child with the thread that started it: a browser starts its own from another than its first.
    """
    children: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            children += map(int, listed.read_text("utf-8").split())
    return children + [below for child in children for below in descendants(child)]
