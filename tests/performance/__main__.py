"""Benchmarks: `python -m tests.performance`; with `--help` everything that it can do.

Every figure that has something to stand beside is measured with it in the same run. Targets are the project's own; a
miss is printed and fails the command with `--check` alone. What cannot be measured here, or did not fit into the time, is
named with the reason.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.performance import against, comparing, page
from tests.performance.benches import ALONE, BENCHES, WHOLE
from tests.performance.curves import growth
from tests.performance.figures import Figure, Finding, Skipped, table
from tests.performance.options import ROOT
from tests.performance.running import RETRIES, Allowance, Job, measure, run_once
from tests.performance.runs import Refused, Run, Took, commit_of, encoded, load, save, this_machine

MISSED, UNUSABLE = 1, 2
"""Exit codes: a target was missed (with `--check`); a file or a commit cannot be used."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Returns the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.page:
            written = page.write(load(asked.page), ROOT / "server")
            print("\n".join(str(path) for path in written))
            return 0
        before = [load(file) for file in (asked.compare or ())[:1]]
        if asked.against:
            base, run = against.measured(asked.against, asked.only or tuple(BENCHES), quick=asked.quick, tell=_tell)
            before = [base]
        elif asked.compare and len(asked.compare) > 1:
            run = load(asked.compare[1])
        else:
            run = _measured(asked.only, quick=asked.quick, thorough=asked.thorough, minutes=asked.minutes)
        if asked.save:
            save(run, asked.save)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return UNUSABLE
    except OSError as error:
        print(f"{error}. Name another file.", file=sys.stderr)
        return UNUSABLE
    if asked.json:
        print(encoded(run).decode(), end="")
    else:
        print(_shown(run))
        print("".join(f"\n{comparing.compared(one, run)}\n" for one in before), end="")
    return MISSED if asked.check and _failed(run, before) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.performance", description="Benchmarks, each with its ratio in the same run."
    )
    names = ", ".join(BENCHES)
    add = parser.add_argument
    add("--json", action="store_true", help="print the run as one JSON object instead of a table")
    add("--only", action="append", choices=BENCHES, metavar="NAME", help=f"one of {names}; may be repeated")
    add("--quick", action="store_true", help="small sizes and few repetitions, without Node: to see that it works")
    add("--thorough", action="store_true", help="all that there is, and time for it: an hour; else with --only alone")
    add(
        "--minutes",
        type=_minutes,
        default=WHOLE / 60,
        help="that all of them may take, and each its part of; 10 by default",
    )
    add("--save", type=Path, metavar="FILE", help="store the run, to compare it later")
    add(
        "--compare",
        type=Path,
        nargs="+",
        action=_OneOrTwo,
        metavar="FILE",
        help="with one stored run: measure, and set it beside; with two: set them beside each other",
    )
    add("--against", metavar="COMMIT", help="measure that commit and this tree in turns, and compare")
    add("--check", action="store_true", help="exit code 1 if a target is missed, or what is compared became worse")
    add("--page", type=Path, metavar="FILE", help="write server/PERFORMANCE.md of a stored run, and measure nothing")
    return parser


def _minutes(text: str) -> float:
    minutes = float(text)
    if not 0 < minutes <= 24 * 60:
        raise argparse.ArgumentTypeError("more than none and at most a day")
    return minutes


class _OneOrTwo(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        if isinstance(values, list) and len(values) > 2:
            parser.error("--compare takes one file or two")
        setattr(namespace, self.dest, values)


def _measured(only: Sequence[str] | None, *, quick: bool, thorough: bool, minutes: float) -> Run:
    """Run them within the time; one that was named has its own, and so has each in a thorough run."""
    began, started = datetime.now(UTC), time.monotonic()
    names = list(dict.fromkeys(only or BENCHES))
    alone = bool(only) or thorough
    allowance = Allowance(ALONE * len(names) if alone else minutes * 60, retries=0 if quick else RETRIES)
    findings: list[Finding] = []
    took: list[Took] = []
    rows = _usual_rows()
    for name in names:
        _tell(name)
        bench = BENCHES[name]
        job = Job(
            name=name,
            module=bench.module,
            seconds=ALONE if alone else bench.seconds * minutes * 60 / WHOLE,
            quick=quick,
            thorough=alone and not quick,
        )
        try:
            ran = measure(job, allowance, _tell, expected=[] if quick else rows.get(name, []), attempt=run_once)
        except KeyboardInterrupt:
            findings.append(Skipped(bench=name, name="this and what comes after", reason="it was interrupted"))
            break
        findings += ran.findings
        took += [ran.took] if ran.took else []
    findings += growth([finding for finding in findings if isinstance(finding, Figure)])
    return Run(
        commit=commit_of(),
        began=f"{began:%Y-%m-%d %H:%M}",
        seconds=round(time.monotonic() - started, 1),
        quick=quick,
        machine=this_machine(),
        benches=took,
        findings=findings,
    )


def _usual_rows() -> dict[str, list[str]]:
    """The rows of each benchmark as they were stored last."""
    try:
        known = load(page.MEASURED)
    except Refused:
        return {}
    rows: dict[str, list[str]] = {}
    for figure in known.figures:
        rows.setdefault(figure.bench, []).append(figure.name)
    return rows


def _shown(run: Run) -> str:
    """The table, and beside how much other work each benchmark ran."""
    lines = [
        table(run.findings),
        "",
        comparing.described(run),
        f"{run.seconds / 60:.1f} minutes; of each benchmark the",
    ]
    lines[-1] += " seconds, the load before and after (processes that want a processor), the share that others had:"
    for took in run.benches:
        before, after = (f"{load:.1f}" if load is not None else "?" for load in (took.load_before, took.load_after))
        others = "?" if took.others is None else f"{took.others:.0%}"
        again = "; tried twice, the quieter one counts" if took.tries > 1 else ""
        lines.append(f"  {took.name:<12}{took.seconds:>6.0f} s  {before:>5} {after:>5}  {others:>4}{again}")
    return "\n".join(lines)


def _failed(run: Run, before: Sequence[Run]) -> bool:
    missed = any(figure.verdict == "NO" for figure in run.figures)
    return missed or any(comparing.worse(one, run) for one in before)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
