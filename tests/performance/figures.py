"""What a benchmark says: figures with their ratio and target, or why there is none; and the table of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from tests.performance.spread import Median

Verdict: TypeAlias = Literal["yes", "NO", ""]

BUSY: Final = 0.1
"""Share of the processors from which on others' work is said beside a figure, and measuring is tried again."""


class Figure(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag="figure"):
    """One measured value; where something stands beside it, their ratio is what the target bounds."""

    bench: str
    name: str
    value: float
    unit: str
    beside: str = ""
    """What it is compared with, measured in the same run."""
    beside_value: float | None = None
    target: float | None = None
    """Upper bound of the ratio, or of the value where it stands alone."""
    note: str = ""
    rounds: int = 1
    """How many rounds the value is the median of."""
    spread: float | None = None
    """Half the distance between the quartiles of the rounds; none where there is one round, or nobody says."""
    beside_spread: float | None = None
    others: float | None = None
    """Share of all processors that other people's processes had while this was measured; none where it is not known."""

    def __post_init__(self) -> None:
        if isinstance(self.value, Median):
            msgspec.structs.force_setattr(self, "rounds", self.value.rounds)
            msgspec.structs.force_setattr(self, "spread", self.value.spread)
        if isinstance(self.beside_value, Median):
            msgspec.structs.force_setattr(self, "beside_spread", self.beside_value.spread)
        for name in ("value", "beside_value"):  # a plain number: what is stored has no classes of ours
            if isinstance(number := getattr(self, name), Median):
                msgspec.structs.force_setattr(self, name, float(number))

    @property
    def is_busy(self) -> bool:
        """Whether others worked beside it."""
        return self.others is not None and self.others > BUSY

    @property
    def ratio(self) -> float | None:
        """The value over the one beside it."""
        return self.value / self.beside_value if self.beside_value else None

    @property
    def bound(self) -> str:
        """The target as people read it; '' if there is none."""
        if self.target is None:
            return ""
        return f"≤ {number(self.target)}" if self.beside else f"≤ {quantity(self.target, self.unit)}"

    @property
    def verdict(self) -> Verdict:
        """Whether the target is met; empty without one."""
        if self.target is None:
            return ""
        measured = self.ratio if self.beside else self.value
        return "yes" if measured is not None and measured <= self.target else "NO"


class Skipped(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="skipped"):
    """Something that could not be measured here, and why."""

    bench: str
    name: str
    reason: str


Finding: TypeAlias = Figure | Skipped


def table(findings: Sequence[Finding]) -> str:
    """The findings, one a line, grouped by benchmark; what was skipped and the notes stand below. Marked with `~`: others
    worked on the machine.
    """
    head: tuple[str, ...] = ("", "ours", "reference", "", "ratio", "target", "met", "")
    rows: list[tuple[str, ...]] = []
    for bench in dict.fromkeys(finding.bench for finding in findings):
        rows.append((bench,))
        rows += [_row(finding) for finding in findings if finding.bench == bench and isinstance(finding, Figure)]
    lines = aligned([head, *rows], right=(1, 3, 4))
    skipped = [finding for finding in findings if isinstance(finding, Skipped)]
    notes: dict[str, str] = {}
    for finding in findings:
        if isinstance(finding, Figure) and finding.note:
            notes.setdefault(finding.note, finding.name)
    if skipped:
        together: dict[tuple[str, str], list[str]] = {}
        for finding in skipped:
            together.setdefault((finding.bench, finding.reason), []).append(finding.name)
        lines += ["", "Skipped:"]
        lines += [f"  {bench}, {'; '.join(names)}: {reason}" for (bench, reason), names in together.items()]
    if notes:
        lines += ["", "Notes:", *(f"  {name}: {note}" for note, name in notes.items())]
    judged = [finding.verdict for finding in findings if isinstance(finding, Figure) and finding.verdict]
    if any(finding.is_busy for finding in findings if isinstance(finding, Figure)):
        lines += ["", f"~ Others had more than {BUSY:.0%} of the processors meanwhile: read ratios, not times."]
    if judged:
        lines += ["", f"{judged.count('yes')} of {len(judged)} targets met."]
    return "\n".join(lines)


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        f"  {figure.name}",
        quantity(figure.value, figure.unit),
        figure.beside,
        "" if figure.beside_value is None else quantity(figure.beside_value, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.3g}",
        figure.bound,
        figure.verdict,
        "~" if figure.is_busy else "",
    )


def quantity(value: float, unit: str) -> str:
    """A number as people read it, with its unit."""
    return f"{number(value)} {unit}".rstrip()


def number(value: float) -> str:
    """Three digits that count, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def aligned(rows: Sequence[Sequence[str]], *, right: Sequence[int]) -> list[str]:
    """Rows as lines with columns, the first of them underlined; a row of one cell is a heading. `right` are the columns of
    numbers.
    """
    widths = [max(len(row[column]) for row in rows if len(row) > 1) for column in range(len(rows[0]))]
    lines = [row[0] if len(row) == 1 else "  ".join(_cells(row, widths, right)).rstrip() for row in rows]
    lines.insert(1, "-" * (sum(widths) + 2 * len(widths) - 2))
    return lines


def _cells(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    pairs = enumerate(zip(row, widths, strict=True))
    return [f"{cell:>{width}}" if column in right else f"{cell:<{width}}" for column, (cell, width) in pairs]
