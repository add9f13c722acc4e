"""The table of strategies in the README, and the rule by which the default is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.evaluation.document import Document
from gemini_companion.evaluation.summary import Row
from gemini_companion.evaluation.text_report import decimal, markdown, percent, whole

BEGIN: Final = "<!-- strategies: written by `gemini-companion eval --table`, not by hand -->"
END: Final = "<!-- end of strategies -->"
HEADING: Final = ("strategy", "rules", "planted facts", "all facts", "size", "tokens", "calls", "pays after", "ms")

RULE: Final = (
    "The default is `split` until another strategy beats it clearly, on six conversations at least: no rule is lost and"
    " every undo brings back every byte; planted facts and all facts together are kept better, with intervals that do"
    " not overlap; and the request is no larger."
)
_FEW: Final = 6
"""Conversations below which an interval says too little."""
_LARGER: Final = 0.01
"""Share of a request by which sizes may differ and count as equal."""


class Choice(NamedTuple):
    """The strategy that the rule chooses, and why."""

    strategy: str
    reason: str


def choose(rows: Sequence[Row], default: str) -> Choice:
    """Apply the rule to the rows of strategies after the last pass. `default` is the strategy to beat."""
    by_name = {row.strategy: row for row in rows}
    incumbent = by_name.get(default)
    if incumbent is None:
        return Choice(default, f"`{default}` was not measured.")
    beaten = [row for row in rows if row is not incumbent and _beats(row, incumbent)]
    if not beaten:
        return Choice(default, f"no strategy beats `{default}` clearly.")
    best = max(beaten, key=lambda row: (_kept(row)[0], row.strategy))
    numbers = f"`{best.strategy}` wins, with {percent(_kept(best)[0])} against {percent(_kept(incumbent)[0])}"
    found = best.metrics.get("kept")
    if found is None or found.conversations < _FEW:
        return Choice(default, f"{numbers}, on too few conversations to decide.")
    return Choice(best.strategy, f"{numbers}.")


def _beats(row: Row, incumbent: Row) -> bool:
    is_safe = row.mean("rules") == 1.0 and (row.undo_equal is None or row.undo_equal.kept == row.undo_equal.of)
    size, other = row.mean("of_said"), incumbent.mean("of_said")
    is_small = size is not None and other is not None and size <= other + _LARGER
    return is_safe and is_small and _kept(row)[1] > _kept(incumbent)[2]


def _kept(row: Row) -> tuple[float, float, float]:
    """Planted facts and all facts together: the mean, and the ends of the interval. All are 0 where not measured."""
    found = row.metrics.get("kept")
    return (found.mean, found.low, found.high) if found else (0.0, 0.0, 0.0)


def strategy_table(document: Document) -> str:
    """The Markdown between the markers. Raises `InvalidInput` if no strategies were measured."""
    rows = document.strategies
    if not rows:
        raise InvalidInput(
            "No strategies were measured.", hint="Name several with --strategies, and an arm of the product."
        )
    last, plan = max(document.plan.passes), document.plan
    lines = [
        [
            f"`{row.strategy}`",
            *(
                _written(row, metric)
                for metric in ("rules", "probes", "facts", "of_said", "tokens", "calls", "payback_turns")
            ),
            f"{document.own_ms.get(f'{row.arm} {row.strategy}', 0.0):,.0f}",
        ]
        for row in rows
    ]
    how = (
        f"After {last} compressions one after the other, {len(document.conversations)} conversations of"
        f" {_corpus(document)}, {plan.seeds} seeds, summarisers {', '.join(f'`{name}`' for name in plan.summarisers)}:"
        " what of everything still stands word for word in the next request, its size as a share of all that was said,"
        " calls of a model and processor time of one pass, and the turns until a pass has paid for itself."
    )
    choice = choose(rows, "split")
    return f"{how}\n\n{markdown(HEADING, lines)}\n\n{RULE} In this table {choice.reason}"


def _corpus(document: Document) -> str:
    return "the built-in corpus" if document.corpus == "synthetic" else f"`{document.corpus}`"


def _written(row: Row, metric: str) -> str:
    value = row.mean(metric)
    if value is None:
        return "–"
    match metric:
        case "tokens":
            return whole(value)
        case "calls" | "payback_turns":
            return decimal(value)
        case _:
            return percent(value)


def with_table(text: str, table: str) -> str:
    """A document with the table between its markers. Raises `InvalidInput` if it has not exactly one place for it."""
    head, found, rest = text.partition(BEGIN)
    _, closed, tail = rest.partition(END)
    if not found or not closed or BEGIN in rest:
        raise InvalidInput(
            "There is no place for the table.", hint=f"Put these lines where it belongs: {BEGIN} and {END}."
        )
    return f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}"
