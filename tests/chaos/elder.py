"""A daemon that lives through the whole run: its memory, descriptors and threads must stay flat."""

from __future__ import annotations

import asyncio
import time
from statistics import linear_regression, median
from typing import Final

from tests.chaos.household import Household
from tests.chaos.report import Report

BETWEEN_LOOKS: Final = 4.0
"""Seconds."""
TIDYING: Final = 1.0
"""Seconds between the order to give back what is not used, and a look: what an allocator keeps is no growth."""
WARM: Final = 0.4
"""Share of the run after which it must be flat."""
FEWEST: Final = 60
"""Looks without which a slope says nothing."""
MOST_KB: Final = 20_000
"""Growth from then to the end that is put down to chance."""
MOST_HANDLES: Final = 5
"""Descriptors, or threads, in the same way."""


async def watch(household: Household, report: Report, until: float) -> None:
    """Look at the household's daemon until that moment, then judge."""
    looks: list[tuple[float, tuple[int, int, int]]] = []
    begun = time.monotonic()
    while time.monotonic() < until:
        window = household.windows[0]
        if window is not None and window.is_open:
            window.process.order(tidy=True)
            await asyncio.sleep(TIDYING)
            if (usage := window.process.usage())[0]:
                looks.append((time.monotonic() - begun, usage))
        await asyncio.sleep(BETWEEN_LOOKS)
    if looks:
        judge(looks, report)


def judge(looks: list[tuple[float, tuple[int, int, int]]], report: Report) -> None:
    """Note what was seen, and violations where it grew."""
    resident, descriptors, threads = ([usage[number] for _, usage in looks] for number in range(3))
    report.notes.append(
        f"the old daemon: {median(resident[:10]) / 1000:.0f} MB at first, {median(resident[-10:]) / 1000:.0f} MB at last, "
        f"{median(descriptors):.0f} descriptors ({max(descriptors)} at most), {median(threads):.0f} threads ({max(threads)})"
    )
    warm = looks[int(len(looks) * WARM) :]
    if len(warm) < FEWEST:
        return
    times = [at for at, _ in warm]
    span = times[-1] - times[0]
    for number, (name, most) in enumerate((("kB", MOST_KB), ("descriptors", MOST_HANDLES), ("threads", MOST_HANDLES))):
        growth = linear_regression(times, [usage[number] for _, usage in warm]).slope * span
        report.notes.append(f"  {name} over the last {span:.0f} s: {growth:+.1f} by regression")
        if growth > most:
            report.violate("not flat", f"the old daemon grew by {growth:.0f} {name} in {span:.0f} s")
