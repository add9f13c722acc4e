"""The table on the terminal, and the same as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from gemini_companion.evaluation.script import Measured
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


def decimal_2(value: float) -> str:
    """A number with two decimals."""
    return f"{value:.2f}"


LABELS: Final = (
    Column("labels.rules", "rules", percent),
    Column("labels.decisions", "decisions", percent),
    Column("labels.outcomes", "outcomes", percent),
    Column("labels.open", "open", percent),
    Column("labels.findings", "findings", percent),
    Column("labels.changes", "changes", percent),
)
"""What people labelled, by kind: what has to stand word for word."""
ENDED: Final = (
    Column("labels.false_rules", "false rules", percent),
    Column("labels.ended_rules", "rules that ended", percent),
    Column("labels.overturned", "overturned", percent),
    Column("labels.done", "done", percent),
)
"""Of what is no rule the share in force, of what has ended the share that shows it."""
NEEDED: Final = (Column("needed.names", "names needed", percent), Column("needed.values", "values needed", percent))
SCORE: Final = (Column("retention", "score", decimal_2), Column("labels.kept", "kept", decimal_2))
_COST: Final = (
    Column("of_said", "size", percent),
    Column("tokens", "tokens", whole),
    Column("calls", "calls", decimal),
    Column("payback_turns", "pays after", decimal),
)
COLUMNS: Final[Mapping[Measured, Sequence[Column]]] = {
    "labels": (*LABELS, *ENDED, *SCORE, *_COST),
    "needed": (*NEEDED, *_COST),
    "planted": (
        Column("rules", "rules", percent),
        Column("probes", "planted facts", percent),
        Column("artifacts", "artifacts", percent),
        Column("facts", "all facts", percent),
        *_COST,
    ),
}
TITLES: Final[Mapping[Measured, str]] = {
    "labels": "What people labelled", "needed": "What is needed next", "planted": "What was planted",
}  # fmt: skip


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
    """The rows as aligned text, a block for each grader and summariser."""
    blocks: list[str] = []
    kinds: dict[tuple[Measured, str], None] = {(row.measured, row.summariser): None for row in rows}
    for measured, summariser in kinds:
        own = [row for row in rows if (row.measured, row.summariser) == (measured, summariser)]
        columns = COLUMNS[measured]
        heading = ["arm", "pass", *(column.heading for column in columns)]
        lines = [[row.label, str(row.number), *(cell_text(row, column) for column in columns)] for row in own]
        blocks.append(f"{TITLES[measured]}. Summariser: {summariser}\n\n{aligned([heading, *lines])}")
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
