"""A chat of thousands of turns with dozens of compressions: `python -m tests.performance.soak`.

The whole daemon over its pipe, the real SDK, a service in a process of its own that answers at once. What the last turns
take is set beside what the first take, by the clock and in the daemon's processor time, which holds on a busy machine;
memory, handles, threads and the store are read on the way. A processor's own pace changes by a fifth within a minute: what
counts is a turn's time beside that of a fixed piece of work in the same moment.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from gemini_companion.adapters.storage.schema import FILE_NAME
from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding, table
from tests.performance.options import Options
from tests.performance.spread import median
from tests.performance.streaming import MODEL, Service

TURNS: Final = 5_000
ENDS: Final = 200
"""Turns at the beginning and at the end that are compared."""
SOME: Final = 10
"""Turns with a compression, at the beginning and at the end, that are compared."""
SAMPLED: Final = 500
"""Turns between two readings of what the daemon holds."""
LATENCY: Final = 1.1
DRIFT: Final = 1.2
"""Of the memory that a turn of the second half adds, beside one of the first: what a chat's log takes grows with it, what
else is kept does not.
"""
GROWTH: Final = 2.0
"""Kilobytes of memory that a turn may add for each of its text."""
MODES: Final = ("off", "auto")
"""Of `companion.compression.background`."""

_WINDOW: Final = 100_000
"""Tokens: so, a compression comes about every eighty turns."""
_PROMPT_WORDS: Final = 60
_STEPS: Final = 4_000
"""Of a piece of work: less than a millisecond."""


class Held(NamedTuple):
    """What the daemon holds after a number of turns; the store's size is that of all its files."""

    turns: int
    resident_kb: int
    handles: int
    threads: int
    store_kb: int


class Took(NamedTuple):
    """Milliseconds of a turn: by the clock, and the daemon's processor time; and whether its view was compressed."""

    real: float
    processor: float
    compressed: bool = False
    piece: float = 1.0
    """What a fixed piece of work took in front of it, milliseconds of processor time."""


@dataclass(slots=True)
class Course:
    """What was seen of a chat."""

    took: list[Took] = field(default_factory=list[Took])
    held: list[Held] = field(default_factory=list[Held])
    compressions: int = 0
    text: int = 0
    """Characters of prompts and answers."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Lead the chats and print. Returns the exit code: 1 where a target was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.performance.soak", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--turns", type=_turns, default=TURNS, help=f"of each chat; {TURNS:,} by default")
    parser.add_argument("--background", choices=(*MODES, "both"), default="both", help="how compressions are made")
    asked = parser.parse_args(arguments)
    findings: list[Finding] = []
    for mode in MODES if asked.background == "both" else (asked.background,):
        with TemporaryDirectory(prefix="companion-soak-", ignore_cleanup_errors=True) as scratch:
            course = lead(Options(scratch=Path(scratch), tell=_tell), mode, asked.turns)
        findings += figures(course, mode)
        _tell(json.dumps([held._asdict() for held in course.held]))
    print(table(findings))
    return 1 if any(isinstance(one, Figure) and one.verdict == "NO" for one in findings) else 0


def _turns(text: str) -> int:
    turns = int(text)
    if turns < 2:
        raise argparse.ArgumentTypeError("two at least, for one is set beside another")
    return turns


def lead(options: Options, mode: str, turns: int, *, window: int = _WINDOW) -> Course:
    """Have a chat of so many turns, with a window of so many tokens."""
    settings = options.scratch / "home" / ".gemini" / "settings.json"
    course = Course()
    with Service(options, "tests.performance.soak_service") as service:
        environment = options.environment(GEMINI_API_KEY="soak", GOOGLE_GEMINI_BASE_URL=service.base_url)
        settings.parent.mkdir(parents=True)
        own = {"model": {"tokenLimit": window}, "companion": {"compression": {"background": mode}}}
        settings.write_text(json.dumps(own), "utf-8")
        with Daemon(options.server_command(), environment) as daemon:
            daemon.initialize(initializationOptions={"trusted": True})
            daemon.notify("initialized", {})
            for number in range(turns):
                _turn(daemon, number, course)
                if (number + 1) % SAMPLED == 0 or number + 1 == turns:
                    status = daemon.request("gemini/compressionStatus", {})["result"]
                    course.compressions = status["compressions"]
                    course.held.append(_held(daemon.process.pid, number + 1, options.scratch / "data"))
                    options.tell(f"{mode}: {number + 1:,} turns, {course.compressions} compressions, {course.held[-1]}")
    return course


def _turn(daemon: Daemon, number: int, course: Course) -> None:
    prompt = " ".join(f"prompt{number}word{word}" for word in range(_PROMPT_WORDS))
    daemon.notifications.clear()
    piece = _piece_of_work()
    before, begun = _processor_ns(daemon.process.pid), time.perf_counter_ns()
    at, answer = daemon.answer_to(daemon.send("gemini/chat", {"prompt": prompt, "model": MODEL}))
    after = _processor_ns(daemon.process.pid)
    if "result" not in answer or answer["result"].get("finishReason") != "STOP":
        raise AssertionError(f"turn {number + 1}: {answer}")
    course.took.append(Took((at - begun) / 1e6, (after - before) / 1e6, "compression" in answer["result"], piece))
    course.text += len(prompt) + len(answer["result"]["text"])


def figures(course: Course, mode: str) -> Iterator[Figure]:
    """The ends beside each other, and what grew."""
    size = min(ENDS, len(course.took) // 2)
    first, last = course.took[:size], course.took[-size:]
    bench = f"soak, background {mode}: {len(course.took):,} turns, {course.compressions} compressions"
    for what, of in (("processor time", 1), ("by the clock", 0)):
        for name, pick in (("median", median), ("95 of 100", _late)):
            yield Figure(
                bench=bench,
                name=f"the last {size} turns, {what}, {name}",
                value=pick([took[of] for took in last]),
                unit="ms",
                beside=f"the first {size}",
                beside_value=pick([took[of] for took in first]),
            )
            yield Figure(
                bench=bench,
                name=f"the last {size} turns, {what}, {name}, in pieces of work",
                value=pick([took[of] / took.piece for took in last]),
                unit="",
                beside=f"the first {size}",
                beside_value=pick([took[of] / took.piece for took in first]),
                target=LATENCY if of or name == "median" else None,
            )
    compressed = [took.processor for took in course.took if took.compressed]
    if len(compressed) >= 2 * SOME:
        yield Figure(
            bench=bench,
            name=f"the last {SOME} turns with a compression, processor time, median",
            value=median(compressed[-SOME:]),
            unit="ms",
            beside=f"the first {SOME}",
            beside_value=median(compressed[:SOME]),
        )
    begun, ended = course.held[0], course.held[-1]
    turns = max(1, ended.turns - begun.turns)
    text = course.text / len(course.took) / 1000
    yield Figure(
        bench=bench,
        name="memory, growth a turn",
        value=_slope(course.held, 1),
        unit="kB",
        target=round(GROWTH * text, 1),
        note=f"a turn has {text:.1f} kB of text",
    )
    middle = len(course.held) // 2
    if middle > 1:
        yield Figure(
            bench=bench,
            name="memory, growth a turn of the second half",
            value=_slope(course.held[middle:], 1),
            unit="kB",
            beside="of the first half",
            beside_value=_slope(course.held[: middle + 1], 1),
            target=DRIFT,
        )
    yield Figure(
        bench=bench, name="the store, growth a turn", value=(ended.store_kb - begun.store_kb) / turns, unit="kB"
    )
    yield Figure(bench=bench, name="handles more than at first", value=ended.handles - begun.handles, unit="", target=0)
    threads = max(one.threads for one in course.held[: middle + 1])  # a pool starts its workers when they are wanted
    yield Figure(
        bench=bench, name="threads more than in the first half", value=ended.threads - threads, unit="", target=0
    )


def _late(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _slope(held: Sequence[Held], column: int) -> float:
    """By how much a column grows a turn: the line that fits best."""
    turns = [one.turns for one in held]
    middle, height = sum(turns) / len(turns), sum(one[column] for one in held) / len(held)
    width = sum((at - middle) ** 2 for at in turns)
    return sum((one.turns - middle) * (one[column] - height) for one in held) / width if width else 0.0


def _held(pid: int, turns: int, store: Path) -> Held:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    size = sum(file.stat().st_size for file in store.rglob(f"{FILE_NAME}*"))
    return Held(
        turns,
        int(fields["VmRSS"].split()[0]),
        len(os.listdir(f"/proc/{pid}/fd")),
        int(fields["Threads"]),
        size // 1000,
    )


def _piece_of_work() -> float:
    """Some arithmetic and a dictionary, as a daemon's own work is: milliseconds of processor time."""
    begun = time.thread_time_ns()
    number, made = 0, dict[str, int]()
    for step in range(_STEPS):
        number = number * 31 + step & 0xFFFF
        made[str(step)] = number
    return (time.thread_time_ns() - begun) / 1e6


def _processor_ns(pid: int) -> int:
    """Processor time of the threads that there are."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_bytes().split()[0]) for task in tasks)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
