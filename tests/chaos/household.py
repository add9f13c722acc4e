"""A data directory with its workspace, the windows that are open on it, and everything that goes wrong around them."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from tests.chaos.client import Gone, Refused
from tests.chaos.control import Control
from tests.chaos.disk import Mood
from tests.chaos.promises import Promises, compare
from tests.chaos.report import Report, Trail
from tests.chaos.small_disk import SmallDisk
from tests.chaos.window import LONGEST, Disturbances, Window

START_AGAIN: Final = 0.05
"""Seconds between the end of a daemon and the next one."""
DAY_MS: Final = 24 * 60 * 60 * 1000
_MOMENTS: Final = ("before", "during", "after")
_FLAWS: Final[tuple[Mood, ...]] = ("full", "read-only", "slow", "broken")


class Household:
    """One folder and `count` windows on it, each with a daemon of its own; without `deadly` none of them is killed."""

    def __init__(
        self,
        name: str,
        scratch: Path,
        base_url: str,
        *,
        report: Report,
        control: Control,
        count: int,
        deadly: bool,
        calm_between: float,
        small_disk: SmallDisk | None = None,
    ) -> None:
        self.name = name
        self.scratch = scratch / name
        self.home = self.scratch / "home"
        self.workspace = self.scratch / "work"
        self.home.mkdir(parents=True)
        (self.workspace / "src").mkdir(parents=True)
        (self.workspace / "src" / "config.py").write_text("DEFAULTS = {'retries': 3}\n", "utf-8")
        self.report = report
        self.sessions: dict[str, Promises] = {}
        self.trail = Trail(f"{name}'s troubles")
        self.trails = [self.trail]
        """Those of the people here too."""
        self.disturbances = Disturbances()
        self.deadly = deadly
        self._small_disk = small_disk
        self.windows: list[Window | None] = [None] * count
        self._control = control
        self._base_url = base_url
        self._calm_between = calm_between
        """Mean seconds between two troubles of one window."""
        self._seqs: list[dict[str, int]] = [{} for _ in range(count)]
        self._changed = asyncio.Condition()

    async def window(self, index: int, until: float) -> Window | None:
        """The open window of that number, as soon as there is one; `None` if there is none before `until`."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + until - time.monotonic()), self._changed:
                while True:
                    window = self.windows[index]
                    if window is not None and window.is_open:
                        return window
                    await self._changed.wait()
        return None

    async def keep_open(self, index: int, until: float) -> None:
        """Start daemon after daemon, compare what each says with what was acknowledged, and make trouble."""
        number = 0
        while time.monotonic() < until:
            number += 1
            chance = random.Random(f"{self.report.seed}:{self.name}:{index}:{number}")
            window = self.start(index, chance)
            try:
                await window.open(self.workspace)
                await self.compare_all(window)
                await self._publish(index, window)
                await self._trouble(index, window, chance, until)
            except Gone:
                pass
            await self._publish(index, None)
            if window.is_open and not window.process.is_killed:
                await self._end_somehow(window, chance)
            await window.end()
            await asyncio.sleep(START_AGAIN)

    def start(self, index: int, chance: random.Random, **orders: Any) -> Window:
        """A new daemon for that window; `orders` for its disk or clock are in force before it does anything."""
        given = [orders] if orders else []
        if self.deadly and chance.random() < 0.1:
            given.append({"dieAt": chance.randint(1, 25), "moment": chance.choice(_MOMENTS)})
        environment = {
            "HOME": str(self.home),
            "COMPANION_DATA_DIR": str(self.scratch / "data"),
            "GEMINI_API_KEY": f"{self.name}-key",
            "GOOGLE_GEMINI_BASE_URL": self._base_url,
            "CHAOS_ORDERS": json.dumps(given),
            "PATH": "/usr/bin:/bin",
        }
        window = Window(
            f"{self.name} {index}",
            environment,
            f"{self.report.seed}:{chance.random()}",
            report=self.report,
            control=self._control,
            sessions=self.sessions,
            disturbances=self.disturbances,
            seqs=self._seqs[index],
            trails=self.trails,
        )
        window.process.is_killed = any("dieAt" in order for order in given)
        return window

    async def compare_all(self, window: Window, *, again: bool = False) -> None:
        """Compare every session of which something was acknowledged since the last time; all of them if `again`."""
        for promises in list(self.sessions.values()):
            if promises.is_checked and not again:
                continue
            try:
                async with asyncio.timeout(LONGEST):
                    found = await compare(window.client, promises)
            except Refused as refused:
                self.trail.note(f"{promises.session_id} could not be compared: {refused}")
                continue
            except TimeoutError:
                self.report.violate(
                    "hung", f"{window.name} does not let {promises.session_id} be compared", self.trails
                )
                continue
            self.report.counts["comparisons"] += 1
            for kind, what in found:
                self.report.violate(kind, f"{window.name}: {what}", self.trails)
            if found:
                promises.compared = promises.news  # told once
            if promises.deleted:
                self.sessions.pop(promises.session_id, None)

    async def finish(self) -> None:
        """With the disk well and the provider calm: compare everything once more, then look at the file itself."""
        window = self.start(0, random.Random(0))
        window.process.is_killed = False
        try:
            await window.open(self.workspace)
            await self.compare_all(window, again=True)
        except Gone:
            self.report.violate("defect", f"{window.name} ended while all was well", self.trails)
        await window.close()
        self.report.counts["sessions at the end"] += len(self.sessions)
        for file in self.scratch.glob("data/projects/*/sessions.db"):
            with closing(sqlite3.connect(file)) as connection:
                verdict = connection.execute("PRAGMA integrity_check").fetchall()
            if verdict != [("ok",)]:
                self.report.violate("lost", f"{file}: {verdict}", self.trails)
        for file in self.scratch.glob("data/projects/*/*.broken-*"):
            self.report.violate("lost", f"the store was taken for damaged: {file}", self.trails)

    # --- troubles

    async def _publish(self, index: int, window: Window | None) -> None:
        async with self._changed:
            self.windows[index] = window
            self._changed.notify_all()

    async def _trouble(self, index: int, window: Window, chance: random.Random, until: float) -> None:
        """Make trouble until the daemon is gone, or the time is up."""
        while time.monotonic() < until and window.is_open:
            rest = min(chance.expovariate(1 / self._calm_between), max(0.0, until - time.monotonic()))
            await window.process.ended(rest)
            if not window.is_open or time.monotonic() >= until:
                return
            deadly = self.deadly and chance.random() < 0.6
            if deadly and await self._deadly(window, chance):
                return
            if not deadly:
                await self._harmless(index, window, chance)

    async def _deadly(self, window: Window, chance: random.Random) -> bool:
        """End the daemon in one of the worse ways; False if it is to end by itself, later."""
        kind = chance.choices(
            ("SIGKILL", "kill at a step", "SIGTERM", "stdin closed", "half a message"), (5, 7, 2, 1, 1)
        )[0]
        self._tell(window, kind)
        match kind:
            case "SIGKILL":
                window.process.signal(signal.SIGKILL)
            case "kill at a step":
                window.process.is_killed = True
                window.process.order(dieAt=chance.randint(1, 60), moment=chance.choice(_MOMENTS))
                return False
            case "SIGTERM":
                window.process.signal(signal.SIGTERM)
            case "stdin closed":
                window.client.close_input()
            case _:
                window.client.leave_half_way(chance.random())
        return True

    async def _harmless(self, index: int, window: Window, chance: random.Random) -> None:
        kind = chance.choices(("disk", "clock", "stopped"), (5, 2, 2))[0]
        if kind == "clock":
            offset = round(chance.choice((-1, 1)) * chance.choice((1_000, 60_000, 3_600_000, 2 * DAY_MS)))
            self._tell(window, "clock set")
            window.process.order(clock=offset)
        elif kind == "stopped":
            self._tell(window, "SIGSTOP")
            for other in self.windows:
                if other is not None and other is not window:
                    other.process.order(clock=40_000)  # for them its lease is past
            await window.stop_daemon(chance.uniform(0.2, 2.0))
        else:
            mood, delay, seconds = chance.choice(_FLAWS), chance.uniform(0.05, 0.3), chance.uniform(0.3, 2.5)
            if mood == "full" and self._small_disk is not None:
                self._tell(window, "disk filled to the last byte")
                await self._full_disk(self._small_disk, seconds)
            else:
                self._tell(window, f"{mood} disk")
                await self._ill_disk(mood, delay, seconds)

    async def _full_disk(self, disk: SmallDisk, seconds: float) -> None:
        """There is no space left, indeed, for a while."""
        self.disturbances.begin("disk")
        await asyncio.to_thread(disk.fill)
        await asyncio.sleep(seconds)
        disk.empty()
        self.disturbances.end("disk", after=1.0)

    async def _ill_disk(self, mood: Mood, delay: float, seconds: float) -> None:
        """The disk of all windows has a flaw for a while."""
        self.disturbances.begin("disk")
        ill = [window for window in self.windows if window is not None]
        for window in ill:
            window.process.order(disk=mood, delay=delay)
        await asyncio.sleep(seconds)
        for window in (*ill, *(window for window in self.windows if window is not None)):
            window.process.order(disk="well")
        self.disturbances.end("disk", after=1.0)

    async def _end_somehow(self, window: Window, chance: random.Random) -> None:
        """The time is up."""
        kind = chance.choice(("SIGKILL", "SIGTERM", "stdin closed")) if self.deadly else "stdin closed"
        self._tell(window, kind)
        if kind == "stdin closed":
            window.client.close_input()
        else:
            window.process.signal(signal.Signals[kind])

    def _tell(self, window: Window, kind: str) -> None:
        self.trail.note(f"{window.name}: {kind}")
        self.report.fault(kind)
