"""A run: who lives in it, and for how long."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.chaos.control import Control
from tests.chaos.elder import watch
from tests.chaos.household import Household
from tests.chaos.ladder import Ladder
from tests.chaos.process import prepare
from tests.chaos.provider import CALM, Provider
from tests.chaos.report import Report
from tests.chaos.small_disk import SmallDisk, mounted
from tests.chaos.user import User
from tests.support.emulator import Emulator, RecordedRequest, faults

KEPT_REQUESTS: Final = 500
COUNT_FAULTS: Final = 5.0
"""Seconds between two faults of the token count."""


async def run(seed: int, minutes: float, scratch: Path, *, quick: bool = False) -> Report:
    """Everything at once for so many minutes; then all is well, and everything is compared. A `quick` run is of two
    windows on one folder and the ladder alone.
    """
    report = Report(seed, minutes)
    provider = Provider(report)
    control = Control(scratch)
    await asyncio.to_thread(prepare)
    begun = time.monotonic()
    until = begun + minutes * 60
    with Emulator(responder=provider) as emulator, mounted(scratch / "single" / "data") as disk:
        looking_after = [asyncio.create_task(control.run()), asyncio.create_task(_tend(emulator, report))]
        try:
            couple = _household("couple", scratch, emulator, report, control, count=2)
            single = _household("single", scratch, emulator, report, control, count=1, small_disk=disk)
            elder = _household("elder", scratch, emulator, report, control, count=1, deadly=False)
            households = (couple,) if quick else (couple, single, elder)
            users = [
                User("ann", couple, 0, pace=0.1, most_sessions=8, most_turns=60),
                User("bob", couple, 1, pace=0.1, most_sessions=8, most_turns=60),
                User("eve", single, 0, pace=0.05, most_sessions=8, most_turns=60),
                User("old", elder, 0, pace=0.15, most_sessions=3, most_turns=12),
            ]
            ladder = Ladder(scratch / "ladder", emulator.base_url, f"{CALM}-key", report=report, control=control)
            await asyncio.gather(
                *(home.keep_open(index, until) for home in households for index in range(len(home.windows))),
                *(user.run(until) for user in users if user.household in households),
                *([] if quick else [watch(elder, report, until)]),
                ladder.climb(until),
            )
            provider.is_calm = True
            for home in households:
                await home.finish()
        finally:
            for task in looking_after:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        for what in (*emulator.malformed, *emulator.defects):
            report.violate("defect", f"the emulator: {what}")
    report.notes.append(f"took {time.monotonic() - begun:.0f} s in all")
    return report


def _household(
    name: str,
    scratch: Path,
    emulator: Emulator,
    report: Report,
    control: Control,
    *,
    count: int,
    deadly: bool = True,
    small_disk: SmallDisk | None = None,
) -> Household:
    return Household(
        name,
        scratch,
        emulator.base_url,
        report=report,
        control=control,
        count=count,
        deadly=deadly,
        calm_between=2.0 if deadly else 6.0,
        small_disk=small_disk,
    )


async def _tend(emulator: Emulator, report: Report) -> None:
    """Keep the emulator small, and let a token count fail now and then."""
    while True:
        await asyncio.sleep(COUNT_FAULTS)
        del emulator.requests[:-KEPT_REQUESTS]
        if not emulator.unused:
            emulator.script(faults.internal(), method="countTokens", when=_is_for_a_person)
            report.fault("failed count")


def _is_for_a_person(request: RecordedRequest) -> bool:
    return not request.headers.get("x-goog-api-key", "").startswith(CALM)
