"""Runs benchmarks, each in a process of its own, within a time, and again where others had the machine."""

from __future__ import annotations

import dataclasses
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from tests.performance.figures import BUSY, Figure, Finding, Skipped
from tests.performance.load import OthersWork, run_queue
from tests.performance.options import ROOT, Options
from tests.performance.runs import Took
from tests.performance.timing import descendants

RETRIES: Final = 120.0
"""Seconds that a run may spend on measuring again what others disturbed."""
LEAST: Final = 1.0
"""Seconds without which no benchmark is begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A benchmark to be run."""

    name: str
    module: str
    """Of `tests.performance`."""
    seconds: float
    """That it may take."""
    tree: Path = ROOT
    """The working tree whose benchmark and whose product are run."""
    quick: bool = False
    thorough: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it."""

    findings: list[Finding]
    took: Took | None = None
    fault: str = ""
    """Why it did not come to its end."""


Attempt = Callable[[Job, Callable[[str], None]], Ran]


class Allowance:
    """The seconds that a run has left, and those of them that are for measuring again."""

    def __init__(
        self, seconds: float, *, retries: float = RETRIES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.retries = retries
        self._clock, self._end = clock, clock() + seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return self._end - self._clock()

    def may_repeat(self, seconds: float) -> bool:
        """Whether there is time for so much again; if so, it is taken."""
        if seconds > min(self.retries, self.left):
            return False
        self.retries -= seconds
        return True


def measure(
    job: Job, allowance: Allowance, tell: Callable[[str], None], *, expected: Collection[str] = (), attempt: Attempt
) -> Ran:
    """Run a benchmark once; twice where others had too much of the machine, and then the quieter one counts. `expected` are
    the rows that it usually has: of those that did not come it is said why.
    """
    if allowance.left < LEAST:
        ran = Ran([], fault="the time of the whole run was over")
    else:
        ran = attempt(_within(job, allowance), tell)
        took = ran.took
        if took and took.others is not None and took.others > BUSY and allowance.may_repeat(took.seconds):
            tell(f"others had {took.others:.0%} of the processors: once more")
            ran = _quieter(ran, attempt(_within(job, allowance), tell))
    return dataclasses.replace(ran, findings=[*ran.findings, *_missing(job, ran, expected)])


def _within(job: Job, allowance: Allowance) -> Job:
    return dataclasses.replace(job, seconds=min(job.seconds, allowance.left))


def _quieter(first: Ran, second: Ran) -> Ran:
    """The one with more of its rows, then with less of others' work."""
    kept = min(first, second, key=lambda ran: (bool(ran.fault), _others(ran)))
    took = msgspec.structs.replace(kept.took, tries=2) if kept.took else None
    return dataclasses.replace(kept, took=took)


def _others(ran: Ran) -> float:
    return ran.took.others if ran.took and ran.took.others is not None else 1.0


def _missing(job: Job, ran: Ran, expected: Collection[str]) -> list[Skipped]:
    if not ran.fault:
        return []
    told = {finding.name for finding in ran.findings}
    reason = f"{ran.fault}; `--only {job.name}` gives more time"
    rows = [name for name in expected if name not in told] or ["what comes after" if told else "everything"]
    return [Skipped(bench=job.name, name=name, reason=reason) for name in rows]


def run_once(job: Job, tell: Callable[[str], None]) -> Ran:
    """Run it in a new folder; it is ended with all that it started when its time is over."""
    before, begun = run_queue(), time.monotonic()
    with TemporaryDirectory(prefix="companion-bench-", ignore_cleanup_errors=True) as scratch:
        errors = Path(scratch) / "errors"
        others = OthersWork()
        findings, share, fault = _followed(job, Path(scratch), errors, tell, others)
        if fault is None:
            fault = _last_line(errors)
    took = Took(
        name=job.name,
        seconds=round(time.monotonic() - begun, 1),
        load_before=before,
        load_after=run_queue(),
        others=share,
    )
    return Ran(findings, took, fault)


def _followed(
    job: Job, scratch: Path, errors: Path, tell: Callable[[str], None], others: OthersWork
) -> tuple[list[Finding], float | None, str | None]:
    """What it found; the share that others had, if it is known; why it stopped: `None` if it ended by itself too early."""
    folder = scratch / "own"
    folder.mkdir()
    flags = ["--quick"] * job.quick + ["--thorough"] * job.thorough
    command = [sys.executable, "-m", "tests.performance.one", job.module, str(folder), *flags]
    findings: list[Finding] = []
    with errors.open("wb") as sink:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=sink, env=_environment(job), cwd=job.tree, start_new_session=True
        )
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
    reader.start()
    end = time.monotonic() + job.seconds
    try:
        while True:
            try:
                line = lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return findings, others.whole(), f"its {job.seconds:.0f} seconds were over"
            if line is None:
                return findings, others.whole(), None
            told: dict[str, Any] = msgspec.json.decode(line)
            if "tell" in told:
                tell(f"{job.name}: {told['tell']}")
            elif "type" in told:
                findings.append(msgspec.convert(told, Figure | Skipped))
            else:
                return findings, others.whole(), ""
    finally:
        _end(process)
        reader.join()


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout
    with process.stdout as stdout:
        for line in stdout:
            lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it, and what it started, in sessions of their own too."""
    for pid in [*descendants(process.pid), process.pid]:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _environment(job: Job) -> dict[str, str]:
    """Ours, with the project of that tree, and what is kept beside this one's."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(job.tree / "server"), str(job.tree)])}
    environment.setdefault("COMPANION_BENCH_DIR", str(Options(scratch=ROOT).downloads))
    environment.setdefault("COMPANION_CORPUS", str(ROOT.parent / "shared" / "corpus"))
    return environment


def _last_line(errors: Path) -> str:
    lines = errors.read_text("utf-8", "replace").strip().splitlines()
    said = "".join(sign for sign in (lines[-1] if lines else "")[:200] if sign.isprintable())
    return f"it failed: {said}" if said else "it ended early"
