"""What a benchmark says: figures with their ratio and target, or why there is none; and the table of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

Verdict: TypeAlias = Literal["pass", "MISS", ""]


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

    @property
    def ratio(self) -> float | None:
        """The value over the one beside it."""
        return self.value / self.beside_value if self.beside_value else None

    @property
    def verdict(self) -> Verdict:
        """Whether the target is met; empty without one."""
        if self.target is None:
            return ""
        measured = self.ratio if self.beside else self.value
        return "pass" if measured is not None and measured <= self.target else "MISS"


class Skipped(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="skipped"):
    """Something that could not be measured here, and why."""

    bench: str
    name: str
    reason: str


Finding: TypeAlias = Figure | Skipped


def as_json(findings: Sequence[Finding], machine: dict[str, Any]) -> str:
    """One object with everything that the table shows."""
    shown: list[dict[str, Any]] = []
    for finding in findings:
        fields: dict[str, Any] = msgspec.to_builtins(finding)
        if isinstance(finding, Figure):
            fields |= {"ratio": finding.ratio, "verdict": finding.verdict}
        shown.append(fields)
    return msgspec.json.format(msgspec.json.encode({"machine": machine, "findings": shown}), indent=2).decode()


def table(findings: Sequence[Finding]) -> str:
    """The findings, one a line, grouped by benchmark; what was skipped and the notes stand below."""
    head: tuple[str, ...] = ("", "ours", "beside", "", "ratio", "target", "")
    rows: list[tuple[str, ...]] = []
    for bench in dict.fromkeys(finding.bench for finding in findings):
        rows.append((bench,))
        rows += [_row(finding) for finding in findings if finding.bench == bench and isinstance(finding, Figure)]
    widths = [max(len(row[column]) for row in [head, *rows] if len(row) > 1) for column in range(len(head))]
    lines = [_line(head, widths), "-" * (sum(widths) + 2 * len(widths) - 2)]
    lines += [_line(row, widths) if len(row) > 1 else "".join(row) for row in rows]
    skipped = [finding for finding in findings if isinstance(finding, Skipped)]
    notes: dict[str, str] = {}
    for finding in findings:
        if isinstance(finding, Figure) and finding.note:
            notes.setdefault(finding.note, finding.name)
    if skipped:
        lines += ["", "Skipped:", *(f"  {finding.bench}, {finding.name}: {finding.reason}" for finding in skipped)]
    if notes:
        lines += ["", "Notes:", *(f"  {name}: {note}" for note, name in notes.items())]
    judged = [finding.verdict for finding in findings if isinstance(finding, Figure) and finding.verdict]
    if judged:
        lines += ["", f"{judged.count('pass')} of {len(judged)} targets met."]
    return "\n".join(lines)


def _row(figure: Figure) -> tuple[str, ...]:
    target = "" if figure.target is None else f"≤ {_number(figure.target)}{'' if figure.beside else ' ' + figure.unit}"
    return (
        f"  {figure.name}",
        _quantity(figure.value, figure.unit),
        figure.beside,
        "" if figure.beside_value is None else _quantity(figure.beside_value, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.3g}",
        target,
        figure.verdict,
    )


def _quantity(value: float, unit: str) -> str:
    return f"{_number(value)} {unit}".rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _line(cells: tuple[str, ...], widths: Sequence[int]) -> str:
    columns = enumerate(zip(cells, widths, strict=True))
    aligned = [f"{cell:>{width}}" if column in (1, 3, 4) else f"{cell:<{width}}" for column, (cell, width) in columns]
    return "  ".join(aligned).rstrip()
