"""The table on the terminal, and the same as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from gemini_companion.evaluation.statistics import Estimate
from gemini_companion.evaluation.summary import Row


class Column(NamedTuple):
    """A column: the metric, its heading, and how a number is written."""

    metric: str
    heading: str
    write: Callable[[float], str]


def percent(value: float) -> str:
    """A share as a percentage; never rounded up to a hundred, nor down to nothing."""
    if 0.995 <= value < 1:
        return f"{min(99.9, 100 * value):.1f} %"
    if 0 < value < 0.005:
        return f"{max(0.1, 100 * value):.1f} %"
    return f"{100 * value:.0f} %"


def whole(value: float) -> str:
    """A number without decimals."""
    return f"{value:,.0f}"


def decimal(value: float) -> str:
    """A number with one decimal."""
    return f"{value:,.1f}"


COLUMNS: Final = (
    Column("rules", "rules", percent),
    Column("probes", "planted facts", percent),
    Column("artifacts", "artifacts", percent),
    Column("facts", "all facts", percent),
    Column("ratio", "size", percent),
    Column("tokens", "tokens", whole),
    Column("calls", "calls", decimal),
    Column("payback_turns", "pays after", decimal),
)


def cell_text(row: Row, column: Column, *, with_interval: bool = False) -> str:
    """A number of a row, `–` for none, on request with its interval."""
    found = row.metrics.get(column.metric)
    if found is None:
        return "–"
    text = column.write(found.mean)
    return f"{text} {interval(found, column)}" if with_interval else text


def interval(found: Estimate, column: Column) -> str:
    """`[low, high]`, in the column's unit."""
    return f"[{column.write(found.low)}, {column.write(found.high)}]".replace(" %,", ",")


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text, a block for each summariser."""
    blocks: list[str] = []
    for summariser in dict.fromkeys(row.summariser for row in rows):
        own = [row for row in rows if row.summariser == summariser]
        heading = ["arm", "pass", *(column.heading for column in COLUMNS)]
        lines = [[row.label, str(row.number), *(cell_text(row, column) for column in COLUMNS)] for row in own]
        blocks.append(f"Summariser: {summariser}\n\n{aligned([heading, *lines])}")
    return "\n\n".join(blocks)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells as text: a heading first, the first column to the left, the others to the right."""
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]

    def joined(line: Sequence[str]) -> str:
        first, *others = line
        return "  ".join(
            [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        ).rstrip()

    return "\n".join([joined(lines[0]), "  ".join("-" * width for width in widths), *map(joined, lines[1:])])


def markdown(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right."""
    rule = ["---", *("---:" for _ in heading[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heading, rule, *lines))
