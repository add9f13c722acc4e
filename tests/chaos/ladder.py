"""Killed at every write step: one fixed scenario, again and again, each time killed one step later."""

from __future__ import annotations

import json
import random
import shutil
import time
from pathlib import Path
from typing import Any, Final

from tests.chaos.client import Gone, Json, Refused
from tests.chaos.control import Control
from tests.chaos.disk import Moment
from tests.chaos.promises import Promises, compare
from tests.chaos.report import Report, Trail
from tests.chaos.window import Disturbances, Window

MORE: Final = 10
"""Steps beyond those that were counted: a run may have a few more."""
FEWEST: Final = 3
"""Steps that are tried in any case, however busy the machine is."""
_TEXT: Final = "the config loader keeps its defaults in src/config.py " * 60


class Ladder:
    """Climbs step by step, in one folder that is emptied each time."""

    def __init__(self, scratch: Path, base_url: str, key: str, *, report: Report, control: Control) -> None:
        self._scratch = scratch
        self._workspace = scratch / "work"
        self._workspace.mkdir(parents=True)
        self._environment = {
            "HOME": str(scratch / "home"),
            "COMPANION_DATA_DIR": str(scratch / "data"),
            "GEMINI_API_KEY": key,
            "GOOGLE_GEMINI_BASE_URL": base_url,
            "PATH": "/usr/bin:/bin",
        }
        self._report = report
        self._control = control

    async def climb(self, until: float) -> None:
        """Count the steps, then take them in an order of the seed's until that moment; each once at most.

        First the process dies at each step when it is done and not acknowledged yet, then in the midst of each that
        reaches the disk.
        """
        counted = self._scratch / "count.json"
        await self.rung(None, "after", counted)
        found = json.loads(counted.read_text("utf-8"))
        chance = random.Random(f"{self._report.seed}:ladder")
        await self._round("after", list(range(1, found["steps"] + MORE)), chance, until)
        await self._round("during", found["onDisk"], chance, until)

    async def _round(self, moment: Moment, steps: list[int], chance: random.Random, until: float) -> None:
        chance.shuffle(steps)
        killed = taken = 0
        for step in steps:
            if time.monotonic() >= until and (taken >= FEWEST or moment != "after"):
                break
            taken += 1
            killed += await self.rung(step, moment)
        self._report.notes.append(
            f"one scenario, killed {moment} each of its write steps: {taken} of {len(steps)} tried, {killed} deaths"
        )

    async def rung(self, step: int | None, moment: Moment, counted: Path | None = None) -> bool:
        """Kill the scenario there, and compare. False if it ended before that step. `counted` gets the steps."""
        shutil.rmtree(self._scratch / "data", ignore_errors=True)
        trail = Trail(f"the ladder, {moment} step {step}")
        sessions: dict[str, Promises] = {}
        window = self._start(sessions, trail, [{"dieAt": step, "moment": moment}] if step else [], counted)
        died = False
        try:
            await window.open(self._workspace)
            await _Scenario(window, sessions, self._scratch, trail).play()
        except Gone:
            died = True
            self._report.fault("kill at each step")
        await window.close(kill=counted is None)
        after = self._start(sessions, trail, [])
        try:
            await after.open(self._workspace)
            for promises in sessions.values():
                for kind, what in await compare(after.client, promises):
                    self._report.violate(kind, f"{trail.actor}: {what}", [trail])
            result = await after.ask("gemini/chat", {"prompt": "[[again]] go on"})
            if not result["text"].startswith("Answer of again"):
                self._report.violate("lost", f"{trail.actor}: it does not go on: {result}", [trail])
        except (Gone, Refused) as fault:
            said = after.process.errors.decode("utf-8", "replace")
            self._report.violate("defect", f"{trail.actor}: it does not start again: {fault}; stderr: {said}", [trail])
        await after.close()
        return died

    def _start(
        self, sessions: dict[str, Promises], trail: Trail, orders: list[Json], counted: Path | None = None
    ) -> Window:
        return Window(
            "the ladder",
            {**self._environment, "CHAOS_ORDERS": json.dumps(orders), "CHAOS_COUNT": str(counted or "")},
            trail.actor,
            report=self._report,
            control=self._control,
            sessions=sessions,
            disturbances=Disturbances(),
            seqs={},
            trails=[trail],
        )


class _Scenario:
    """One of everything that writes."""

    def __init__(self, window: Window, sessions: dict[str, Promises], scratch: Path, trail: Trail) -> None:
        self._window = window
        self._sessions = sessions
        self._scratch = scratch
        self._trail = trail
        self._number = 0
        self._own = Promises("")
        window.process.is_killed = True

    async def play(self) -> None:
        """Play it. Raises `Gone` when the daemon dies."""
        self._own = await self._session("gemini/session/new", {})
        for _ in range(3):
            await self._chat()
        await self._pin()
        await self._compress()
        await self._chat()
        preview = await self._ask("gemini/compress", {"preview": True})
        self._own.previewed = preview["compressionId"]
        self._own.previewed, edited = "", f"{preview['snapshot']}\nAnd mind the tests."
        applied = await self._ask(
            "gemini/compression/apply", {"compressionId": preview["compressionId"], "snapshot": edited}
        )
        self._own.compressions.add(applied["compressionId"])
        undone = await self._ask("gemini/compression/undo", {})
        self._own.undone.update(undone["undone"])
        await self._chat(replaces=next(reversed(self._own.turns)))
        info = await self._ask("gemini/session/rename", {"title": "A title"})
        self._own.titles.add(info["title"])
        rated = next(iter(self._own.compressions))
        await self._ask("gemini/compression/rate", {"compressionId": rated, "rating": 4})
        self._own.ratings[rated] = {4}
        before = self._own.copied("")
        fork = await self._session("gemini/session/fork", {"sessionId": self._own.session_id}, before)
        exported = await self._ask("gemini/session/export", {"format": "companion"})
        file = self._scratch / "session.json"
        file.write_text(exported["content"], "utf-8")
        await self._session("gemini/session/import", {"path": str(file)}, self._own.copied(""))
        fork.may_be_deleted = True
        await self._window.ask("gemini/session/delete", {"sessionId": fork.session_id})
        fork.deleted = True

    async def _ask(self, method: str, params: Json) -> Any:
        self._trail.note(method)
        return await self._window.ask(method, {"sessionId": self._own.session_id, **params})

    async def _session(self, method: str, params: Json, promises: Promises | None = None) -> Promises:
        self._trail.note(method)
        info = await self._window.ask(method, params)
        promises = promises or Promises("")
        promises.session_id = info["sessionId"]
        self._sessions[promises.session_id] = promises
        return promises

    async def _chat(self, *, replaces: str = "") -> None:
        self._number += 1
        if replaces:
            self._own.turns[replaces].may_be_replaced = True
        more = {"replaces": replaces} if replaces else {}
        result = await self._ask("gemini/chat", {"prompt": f"[[rung-{self._number}]] {_TEXT}", **more})
        self._own.complete(result["turnId"], f"rung-{self._number}", result["text"])

    async def _pin(self) -> None:
        pin = await self._ask("gemini/pin", {"text": "Never touch the lock file."})
        self._own.pins[pin["pinId"]] = pin["text"]

    async def _compress(self) -> None:
        result = await self._ask("gemini/compress", {})
        self._own.compressions.add(result["compressionId"])
