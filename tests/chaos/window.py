"""One window of an editor: a daemon, the client that speaks to it, and what that client may expect of it."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.chaos.client import Client, Gone, Json, Refused
from tests.chaos.control import Control
from tests.chaos.process import DaemonProcess
from tests.chaos.promises import Promises
from tests.chaos.provider import marker_of
from tests.chaos.report import Report, Trail

PROMPT_ANSWER: Final = 2.0
"""Seconds within which an answer comes that does not depend on a provider, on a machine that is not busy."""
BUSY_MACHINE: Final = 10.0
"""By how many of the control's slowest rounds an answer may be later, beside what its daemon waited for a processor."""
LONGEST: Final = 180.0
"""Seconds after which anything hangs, a provider's answer too."""
ENDING: Final = 12.0
"""Seconds for a daemon that was asked to end."""
NEEDS_PROVIDER: Final = frozenset(
    {"gemini/chat", "gemini/compress", "gemini/compression/apply", "gemini/compression/undo", "gemini/session/delete"}
)
"""What waits for a model, or for a turn that does."""
_DEFECT: Final = re.compile(r"Traceback \(most recent call last\)|Left behind|never retrieved|was never awaited")


class Disturbances:
    """When something was done to a folder's daemons that makes them late or has them refuse, whose doing it is not."""

    def __init__(self) -> None:
        self.until: dict[str, float] = {}
        """By kind (`disk`, `stopped`), the end of the last one on the monotonic clock; infinite while it lasts."""

    def begin(self, kind: str) -> None:
        """It begins."""
        self.until[kind] = float("inf")

    def end(self, kind: str, *, after: float = 0.0) -> None:
        """It is over, so many seconds from now."""
        self.until[kind] = time.monotonic() + after

    def any_since(self, kind: str, begun: float) -> bool:
        """Whether one of the kind was there after `begun`."""
        return self.until.get(kind, 0.0) > begun


class Window:
    """A daemon that was started, and the client that speaks to it."""

    def __init__(
        self,
        name: str,
        environment: Mapping[str, str],
        seed: str,
        *,
        report: Report,
        control: Control,
        sessions: dict[str, Promises],
        disturbances: Disturbances,
        seqs: dict[str, int],
        trails: Sequence[Trail],
    ) -> None:
        self.name = name
        self.report = report
        self.trails = trails
        self.sessions = sessions
        self.disturbances = disturbances
        self.process = DaemonProcess(environment, seed)
        self.client = Client(self.process, self._hear)
        self.current: str | None = None
        self.seqs = seqs
        """By session, the number of the last event that a client of this window got; it outlives the daemon."""
        self.statuses: dict[str, str] = {}
        self._control = control
        self._begun: dict[str, tuple[str, float]] = {}
        """By turn, the marker of its prompt and when it began, seconds on the monotonic clock."""
        self._late = Disturbances()
        report.counts["daemons"] += 1

    @property
    def is_open(self) -> bool:
        """False once the daemon or the connection is gone."""
        return not (self.client.is_gone or self.process.has_ended)

    async def open(self, folder: Path) -> None:
        """Say hello. Raises `Gone`."""
        begun = self._now()
        await self._bounded(self.client.begin(folder, clientName=self.name), "initialize")
        self._judge_time("initialize", *begun)

    async def ask(self, method: str, params: Json) -> Any:
        """Ask, wait, and judge how long it took. Raises `Refused` or `Gone`."""
        return await self.answer_of(method, self.client.send(method, params)[1])

    async def answer_of(self, method: str, answer: asyncio.Future[Any]) -> Any:
        """Wait for the answer to a request just sent, and judge it."""
        begun, waits = self._now()
        try:
            result = await self._bounded(answer, method)
        except Refused as refused:
            self._judge_refusal(method, refused, begun)
            raise
        finally:
            if not self.client.is_gone and method not in NEEDS_PROVIDER:
                self._judge_time(method, begun, waits)
        return result

    def stop_reading(self) -> None:
        """Have the client read nothing."""
        self._late.begin("unread")
        self.client.stop_reading()

    def go_on_reading(self) -> None:
        """Have it read again."""
        self.client.go_on_reading()
        self._late.end("unread", after=0.5)

    async def stop_daemon(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        self._late.begin("stopped")
        self.disturbances.begin("stopped")
        self.process.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.process.signal(signal.SIGCONT)
        self._late.end("stopped", after=0.5)
        self.disturbances.end("stopped", after=0.5)

    async def close(self, *, kill: bool = False) -> None:
        """End the daemon, by closing its input or by SIGKILL, and look at what it left on stderr."""
        if kill:
            self.process.signal(signal.SIGKILL)
        self.client.go_on_reading()
        self.client.close_input()
        await self.end()

    async def end(self) -> None:
        """Wait for the end of a daemon that has a reason to end, and judge it."""
        begun, waits = self._now()
        if not await self.process.ended(LONGEST):
            stacks = await self.process.stacks()
            self.report.violate("hung", f"{self.name} does not end: {stacks}", self.trails)
            self.process.signal(signal.SIGKILL)
            await self.process.ended(LONGEST)
        elif (own := self._own(time.monotonic() - begun, begun, waits)) > ENDING:
            self.report.violate("late", f"{self.name} took {own:.1f} s of its own to end", self.trails)
        self.client.close()
        said = self.process.errors.decode("utf-8", "replace")
        if found := _DEFECT.search(said):
            at = max(0, found.start() - 300)
            self.report.violate("defect", f"{self.name} wrote to stderr: …{said[at : at + 3_000]}", self.trails)
        if self.process.exit_code not in (0, 1) and not self.process.is_killed:
            self.report.violate(
                "defect", f"{self.name} ended with {self.process.exit_code}: {said[-2_000:]}", self.trails
            )

    async def _bounded(self, answer: Any, method: str) -> Any:
        try:
            async with asyncio.timeout(LONGEST):
                return await answer
        except TimeoutError:
            if self.client.reads:
                stacks = await self.process.stacks()
                what = f"{self.name}: {method} has no answer after {LONGEST:g} s: {stacks}"
                self.report.violate("hung", what, self.trails)
            self.process.signal(signal.SIGKILL)
            raise Gone(method) from None

    def _now(self) -> tuple[float, dict[str, int]]:
        """The monotonic clock in seconds, and what the daemon's threads have waited for a processor until now."""
        return time.monotonic(), self.process.waits()

    def _own(self, seconds: float, begun: float, waits: dict[str, int]) -> float:
        """What is left of so many seconds without what the machine was too busy for."""
        waited = sum(now - waits.get(task, 0) for task, now in self.process.waits().items()) / 1e9
        return max(0.0, seconds - waited - BUSY_MACHINE * self._control.slowest(begun))

    def _judge_time(self, method: str, begun: float, waits: dict[str, int]) -> None:
        seconds = time.monotonic() - begun
        if any(self._late.any_since(kind, begun) for kind in ("unread", "stopped")):
            return
        if any(self.disturbances.any_since(kind, begun) for kind in ("disk", "stopped")):
            self.report.disturbed(method, seconds)
            return
        own = self._own(seconds, begun, waits)
        self.report.answered(method, seconds, own)
        if own > PROMPT_ANSWER:
            self.report.violate(
                "late", f"{self.name}: {method} took {seconds:.1f} s, {own:.1f} s of it its own", self.trails
            )

    def _judge_refusal(self, method: str, refused: Refused, begun: float) -> None:
        self.report.refusals[f"{refused.kind} of {method.removeprefix('gemini/')}"] += 1
        if refused.code == -32603:
            said = self.process.errors[-3_000:].decode("utf-8", "replace")
            self.report.violate("defect", f"{self.name}: {refused}; stderr: {said}", self.trails)
        if refused.kind == "storage" and not any(
            self.disturbances.any_since(kind, begun) for kind in ("disk", "stopped")
        ):
            self.report.violate("defect", f"{self.name}: {refused}, though the disk is well", self.trails)

    def _hear(self, method: str, params: Json) -> None:
        if method == "gemini/compressionStatus/didChange":
            self.statuses[params["sessionId"]] = params["state"]
            return
        if method != "gemini/event":
            return
        session_id, seq, event = params["sessionId"], params["seq"], params["event"]
        if seq <= self.seqs.get(session_id, 0):
            self.report.violate("defect", f"{self.name}: event {seq} after {self.seqs[session_id]}", self.trails)
        self.seqs[session_id] = seq
        promises, turn_id, kind = self.sessions.get(session_id), params.get("turnId", ""), event["type"]
        if kind == "turnStarted":
            text = "".join(part.get("text", "") for part in event["prompt"])
            self._begun[turn_id] = (marker_of(text), time.monotonic())
            return
        marker, begun = self._begun.get(turn_id, ("", 0.0))
        if promises is None or not marker:
            return
        if kind == "messageDelta":
            promises.accept(turn_id, marker)
        elif kind in ("turnCompleted", "turnFailed", "turnCancelled"):
            del self._begun[turn_id]
            self.report.counts[{"turnCompleted": "turns", "turnFailed": "failed"}.get(kind, "cancelled")] += 1
            if kind == "turnCompleted":
                is_written = event["finishReason"] not in ("maxTurns", "contextWindowWillOverflow")
            else:  # a prompt that could not be written is written later, and nobody was promised more
                is_written = event.get("by") != "interrupted" and not promises.is_contested
                is_written = is_written and not any(
                    self.disturbances.any_since(kind, begun) for kind in ("disk", "stopped")
                )
            if is_written:
                promises.accept(turn_id, marker)
