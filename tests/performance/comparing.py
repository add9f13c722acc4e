"""Two runs beside each other: what changed, and whether by more than the rounds of either differ among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from tests.performance.figures import BUSY, Figure, Skipped, aligned, number, quantity
from tests.performance.runs import Run

Change: TypeAlias = Literal["better", "worse", "same", "unknown"]

LEAST: Final = 0.05
"""Part by which two medians of the same thing may always differ: the next run is another process."""
UNKNOWN: Final = 0.25
"""The same where the rounds' spread is not known, or others had the machine: by them, a time may have become any longer
that leaves their share free, and so says nothing below that.
"""
COUNTED: Final = 0.01
"""The same for what is counted and not timed."""
_TIMED: Final = frozenset({"ms", "/s", "MiB", "MB", "kB", "power"})
_MORE_IS_BETTER: Final = frozenset({"/s"})


class Difference(NamedTuple):
    """One row of both runs."""

    before: Figure
    after: Figure
    ratio: float | None
    """After over before, of the times, or of their ratios to what stands beside both; none where that says nothing."""
    by_ratio: bool
    noise: float
    """The part by which it may differ without saying anything."""
    change: Change


def differences(before: Run, after: Run) -> list[Difference]:
    """Every row that both have, in the order of the newer one."""
    comparable = before.machine.hardware == after.machine.hardware
    return [
        _difference(earlier, figure, comparable=comparable)
        for figure in after.figures
        if (earlier := _counterpart(figure, before)) is not None
    ]


def _counterpart(figure: Figure, run: Run) -> Figure | None:
    """The same row there: with the same beside it, else the only one of its name."""
    named = [one for one in run.figures if (one.bench, one.name) == (figure.bench, figure.name)]
    same = [one for one in named if one.beside == figure.beside]
    return same[0] if same else named[0] if len(named) == 1 else None


def _difference(before: Figure, after: Figure, *, comparable: bool) -> Difference:
    by_ratio = before.beside == after.beside and before.ratio is not None and after.ratio is not None
    timed = before.unit in _TIMED
    one, two = (before.ratio, after.ratio) if by_ratio else (before.value, after.value)
    noise = _noise(before, after, by_ratio) if timed else COUNTED
    if before.unit != after.unit or one is None or two is None or not (by_ratio or comparable or not timed):
        return Difference(before, after, None, by_ratio, noise, "unknown")
    if not one:
        return Difference(before, after, None, by_ratio, noise, "same" if two <= 0 else "unknown")
    ratio = two / one
    if 1 / (1 + noise) <= ratio <= 1 + noise:
        return Difference(before, after, ratio, by_ratio, noise, "same")
    is_better = (ratio < 1) != (before.unit in _MORE_IS_BETTER)
    return Difference(before, after, ratio, by_ratio, noise, "better" if is_better else "worse")


def _noise(before: Figure, after: Figure, by_ratio: bool) -> float:
    """Half the distance between the quartiles, as a part of the value, of all that is compared."""
    parts = [_part(figure.spread, figure.value) for figure in (before, after)]
    if by_ratio:
        parts += [_part(figure.beside_spread, figure.beside_value) for figure in (before, after)]
    noise = max(LEAST, sum(part for part in parts if part is not None))
    if None in parts or before.is_busy or after.is_busy:
        noise = max(noise, UNKNOWN)
    others = max(before.others or 0.0, after.others or 0.0)
    if others > BUSY and not by_ratio:
        noise = max(noise, others / (1 - min(others, 0.99)))
    return noise


def _part(spread: float | None, of: float | None) -> float | None:
    return None if spread is None or not of else spread / abs(of)


def compared(before: Run, after: Run) -> str:
    """The rows of both as a table, with what is to be known of the machines."""
    rows = differences(before, after)
    lines = _places(before, after)
    if rows:
        table: list[tuple[str, ...]] = [("", "before", "after", "after ÷ before", "noise ×", "", "")]
        for bench in dict.fromkeys(row.after.bench for row in rows):
            table.append((bench,))
            table += [_row(row) for row in rows if row.after.bench == bench]
        lines += ["", *aligned(table, right=(1, 2, 3, 4))]
    lines += [*_alone(before, after), ""]
    if not rows:
        return "\n".join([*lines, "The two runs have no row in common: nothing can be said."])
    counts = {change: sum(row.change == change for row in rows) for change in ("better", "worse", "same", "unknown")}
    names = {"unknown": "not comparable"}
    told = ", ".join(
        f"{count} {names.get(change, change)}" for change, count in counts.items() if count or change != "unknown"
    )
    return "\n".join([*lines, f"{len(rows)} rows in both: {told}."])


def _alone(before: Run, after: Run) -> list[str]:
    """What one run has alone, and what either could not measure."""
    lines: list[str] = []
    for name, these, those in (("before", before, after), ("after", after, before)):
        rows = [
            f"  {one.bench}, {one.name}: {quantity(one.value, one.unit)}"
            for one in these.figures
            if _counterpart(one, those) is None
        ]
        reasons = [f"  {one.bench}, {one.name}: {one.reason}" for one in these.findings if isinstance(one, Skipped)]
        lines += ["", f"{name.capitalize()} only:", *rows] if rows else []
        lines += ["", f"Not measured {name}:", *reasons] if reasons else []
    return lines


def _row(row: Difference) -> tuple[str, ...]:
    beside = f"as a ratio to {row.after.beside}: {number(row.before.ratio or 0)}, now {number(row.after.ratio or 0)}"
    marks = [
        *([beside] if row.by_ratio else []),
        *(["~"] if row.before.is_busy or row.after.is_busy else []),
    ]
    return (
        f"  {row.after.name}",
        quantity(row.before.value, row.before.unit),
        quantity(row.after.value, row.after.unit),
        "" if row.ratio is None else f"{row.ratio:.3g}",
        f"{1 + row.noise:.3g}",
        "not comparable" if row.change == "unknown" else row.change,
        "; ".join(marks),
    )


def _places(before: Run, after: Run) -> list[str]:
    lines = [f"before: {described(before)}", f"after:  {described(after)}"]
    if before.machine.hardware != after.machine.hardware:
        lines.append("The machines differ: times are not compared, only ratios to what was measured in the same run.")
    names = sorted(before.machine.versions.keys() | after.machine.versions.keys())
    other = [
        f"{name} {before.machine.versions.get(name, 'none')}, now {after.machine.versions.get(name, 'none')}"
        for name in names
        if before.machine.versions.get(name) != after.machine.versions.get(name)
    ]
    if other:
        lines.append(f"Other versions: {'; '.join(other)}.")
    if before.quick or after.quick:
        lines.append("A hurried run (--quick) is among them: its figures say nothing.")
    if any(figure.is_busy for run in (before, after) for figure in run.figures):
        lines.append("~ Others had more of the machine than is good for figures: times count there by as much less.")
    return lines


def described(run: Run) -> str:
    """Where, when and of what, in one line."""
    others = "others' work unknown" if run.others is None else f"others had up to {run.others:.0%} of the processors"
    place = f"{run.machine.processors} × {run.machine.processor}, {run.machine.memory:g} GiB, {run.machine.system}"
    return f"{run.commit[:10] or 'no commit'}{'+' * run.commit.endswith('+')}, {run.began} UTC, {place}; {others}"


def worse(before: Run, after: Run) -> Sequence[str]:
    """Names of the rows that are worse beyond the noise."""
    return [f"{row.after.bench}, {row.after.name}" for row in differences(before, after) if row.change == "worse"]
