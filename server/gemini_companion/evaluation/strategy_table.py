"""The tables of strategies in the README, and the rule by which the default is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.evaluation.document import Document
from gemini_companion.evaluation.measuring import Share
from gemini_companion.evaluation.script import Measured
from gemini_companion.evaluation.subject import INSTALLED
from gemini_companion.evaluation.summary import Row
from gemini_companion.evaluation.text_report import (
    ENDED,
    LABELS,
    NEEDED,
    SCORE,
    Column,
    decimal,
    markdown,
    percent,
    whole,
)

BEGIN: Final = "<!-- strategies: written by `gemini-companion eval --table`, not by hand -->"
END: Final = "<!-- end of strategies -->"
_FIRST: Final = ("strategy", "summariser")
HEADINGS: Final = (
    (*_FIRST, *(column.heading for column in LABELS), "size"),
    (*_FIRST, *(column.heading for column in ENDED), "score / kept", "refused"),
    (*_FIRST, *(column.heading for column in NEEDED), "size", "tokens", "calls", "ms"),
)
"""Of the three tables: what stands, what is shown wrongly beside the score, what is needed next and the cost."""

COUNTED: Final = "counted"
"""The row that says of how many."""

RULE: Final = (
    "By these tables the default ought to be the strategy that keeps the most rules after all compressions, with the"
    " worse of the summarisers; of those within two points of it, the one that keeps the most of open tasks and of what"
    " is needed next; of those within two points again, the smallest. One whose undo does not bring back every byte is"
    " out."
)
_NEAR: Final = 0.02


class Candidate(NamedTuple):
    """What a strategy is judged by: shares with the worst summariser, and its mean size."""

    strategy: str
    rules: float
    wanted: float
    """Open tasks and what is needed next."""
    size: float
    undoes: bool


class Choice(NamedTuple):
    """The strategy that the rule chooses, and its numbers in a sentence."""

    strategy: str
    reason: str


def choose(candidates: Sequence[Candidate]) -> Choice | None:
    """Apply the rule. `None` where nothing can be chosen."""
    left = [one for one in candidates if one.undoes]
    for value in (_rules, _wanted):
        best = max(map(value, left), default=0.0)
        left = [one for one in left if value(one) >= best - _NEAR]
    if not left:
        return None
    one = min(left, key=lambda one: (one.size, one.strategy))
    return Choice(
        one.strategy,
        f"`{one.strategy}`: rules {percent(one.rules)}, open tasks and needed next {percent(one.wanted)},"
        f" size {percent(one.size)}.",
    )


def _rules(one: Candidate) -> float:
    return one.rules


def _wanted(one: Candidate) -> float:
    return one.wanted


def candidates_of(rows: Iterable[Row], last: int) -> list[Candidate]:
    """The strategies that were measured by labels and by what is needed next, after the last pass."""
    final = [row for row in rows if row.number == last]
    found: list[Candidate] = []
    for strategy in dict.fromkeys(row.strategy for row in final):
        own = [row for row in final if row.strategy == strategy]
        labels = {row.summariser: row for row in own if row.measured == "labels"}
        needed = {row.summariser: row for row in own if row.measured == "needed"}
        both = labels.keys() & needed.keys()
        if not both:
            continue
        wanted = ("labels.open", "needed.names", "needed.values")
        undone = [row.undo_equal for row in own if row.undo_equal is not None]
        sizes = [size for row in own if (size := row.mean("of_said")) is not None]
        found.append(
            Candidate(
                strategy,
                min(labels[name].mean("labels.rules") or 0.0 for name in both),
                min(_together((labels[name], needed[name]), wanted) for name in both),
                sum(sizes) / max(1, len(sizes)),
                all(share.kept == share.of for share in undone),
            )
        )
    return found


def _together(rows: Iterable[Row], metrics: Sequence[str]) -> float:
    """The mean of some metrics, each of which counts alike."""
    values = [value for row in rows for metric in metrics if (value := row.mean(metric)) is not None]
    return sum(values) / max(1, len(values))


def strategy_table(document: Document) -> str:
    """The Markdown between the markers. Raises `InvalidInput` if no strategy was measured by these graders."""
    arm = next((row.arm for row in document.rows if row.strategy), "")
    rows = [row for row in document.rows if row.arm == arm and row.strategy]
    numbers = document.plan.passes
    blocks = [
        block for block in (_labels(rows, numbers), _ended(rows, numbers), _needed(document, rows, numbers)) if block
    ]
    if not blocks:
        raise InvalidInput(
            "No strategies were measured by labels or by what is needed next.",
            hint="Name a folder of conversations, and an arm of the product.",
        )
    choice = choose(candidates_of(rows, numbers[-1]))
    chosen = f"{RULE} That is {choice.reason}" if choice else RULE
    undone = [row.undo_equal for row in rows if row.number == numbers[-1] and row.undo_equal is not None]
    undo = Share(sum(share.kept for share in undone), sum(share.of for share in undone))
    return "\n\n".join(
        (
            *blocks,
            f"Measured on {_corpus(document)}. Undoing everything brought back every byte in {undo.kept} of {undo.of}"
            " runs.",
            chosen,
        )
    )


def _labels(rows: Sequence[Row], numbers: Sequence[int]) -> str:
    lines = _lines(rows, "labels", [_shares(column.metric) for column in LABELS], [_shares("of_said")])
    if not lines:
        return ""
    lines.insert(0, [COUNTED, "", *(_of(rows, "labels", column.metric, numbers) for column in LABELS), ""])
    how = (
        f"What people and models had said, by labels in {_many(rows, 'labels')} conversations: of"
        " rules in force, decisions that stand, outcomes that hold, open tasks, findings and changes the share that"
        f" stands **word for word** in the next request, after {_listed(numbers)} compressions with talk in between,"
        " and the request's size as a share of all that was said. `empty` answers with a well-formed snapshot that says"
        " nothing; `offline` is the built-in model. `–`: nothing was compressed."
    )
    return f"{how}\n\n{markdown(HEADINGS[0], lines)}"


def _ended(rows: Sequence[Row], numbers: Sequence[int]) -> str:
    def score(found: Sequence[Row]) -> str:
        return " / ".join(_written(found[-1], column) for column in SCORE)

    columns: list[_Cell] = [*(_shares(column.metric) for column in ENDED), score, _refused]
    lines = _lines(rows, "labels", columns)
    if not lines:
        return ""
    lines.insert(0, [COUNTED, "", *(_of(rows, "labels", column.metric, numbers) for column in ENDED), "", ""])
    how = (
        f"What is shown wrongly, and what the product says of itself, after {_listed(numbers)} compressions: of"
        " sentences that are no rules those shown as one in force; of rules that ended, decisions that were overturned"
        " and tasks that are done those that are gone, or have behind them what ended them; after the last, the mean"
        " score beside the share of labels that is really kept; and all compressions that were refused."
    )
    return f"{how}\n\n{markdown(HEADINGS[1], lines)}"


def _needed(document: Document, rows: Sequence[Row], numbers: Sequence[int]) -> str:
    def spent(found: Sequence[Row]) -> str:
        last = found[-1]
        label = " ".join((last.arm, last.strategy, last.summariser))
        return whole(document.own_ms.get(label, 0.0))

    columns: list[_Cell] = [_shares(column.metric) for column in NEEDED]
    columns += [
        _shares("of_said"),
        _last("tokens", whole),
        _last("calls", decimal),
        spent,
    ]
    lines = _lines(rows, "needed", columns)
    if not lines:
        return ""
    lines.insert(0, [COUNTED, "", *(_of(rows, "needed", column.metric, numbers) for column in NEEDED), *[""] * 4])
    how = (
        f"What an agent needs next, on {_many(rows, 'needed')} recorded runs, after"
        f" {_listed(numbers)} compressions: of names, paths and numbers, and of whole arguments, that later calls and"
        f" words of the model use and that stood only in the older part, the share that stands in the"
        " request; its size as a share of all that was said, tokens, calls of a model for one compression and ms of"
        " processor time."
    )
    return f"{how}\n\n{markdown(HEADINGS[2], lines)}"


_Cell = Callable[[Sequence[Row]], str]


def _lines(rows: Sequence[Row], measured: Measured, *columns: Sequence[_Cell]) -> list[list[str]]:
    """A line for each strategy and summariser; a cell is made of the rows of its passes, in order."""
    lines: list[list[str]] = []
    own = [row for row in rows if row.measured == measured]
    for strategy, summariser in dict.fromkeys((row.strategy, row.summariser) for row in own):
        found = [row for row in own if (row.strategy, row.summariser) == (strategy, summariser)]
        found.sort(key=lambda row: row.number)
        cells = [cell(found) for group in columns for cell in group]
        lines.append([f"`{strategy}`", f"`{summariser}`", *cells])
    return lines


def _shares(metric: str) -> _Cell:
    """A share after each number of passes, `100 / 97 %`."""

    def cell(found: Sequence[Row]) -> str:
        values = [row.mean(metric) for row in found]
        if not any(value is not None for value in values):
            return "–"
        written = ["–" if value is None else percent(value).removesuffix(" %") for value in values]
        return f"{' / '.join(written)} %"

    return cell


def _last(metric: str, write: Callable[[float], str]) -> _Cell:
    """A number after the last pass."""

    def cell(found: Sequence[Row]) -> str:
        value = found[-1].mean(metric)
        return "–" if value is None else write(value)

    return cell


def _written(row: Row, column: Column) -> str:
    value = row.mean(column.metric)
    return "–" if value is None else column.write(value)


def _refused(found: Sequence[Row]) -> str:
    """How many compressions were tried and installed nothing."""
    done = (*INSTALLED, "NOOP")
    return whole(sum(many for row in found for status, many in row.statuses.items() if status not in done))


def _of(rows: Sequence[Row], measured: Measured, metric: str, numbers: Sequence[int]) -> str:
    """How many things a metric counts after each of these passes, where nothing was refused."""
    counts = [
        max(
            (
                found.of
                for row in rows
                if (row.measured, row.number) == (measured, number) and (found := row.metrics.get(metric)) is not None
            ),
            default=0,
        )
        for number in numbers
    ]
    return _listed(counts)


def _many(rows: Sequence[Row], measured: Measured) -> int:
    return max(
        (found.conversations for row in rows if row.measured == measured for found in row.metrics.values()), default=0
    )


def _listed(numbers: Sequence[int]) -> str:
    return " / ".join(map(str, numbers))


def _corpus(document: Document) -> str:
    return "the built-in conversations" if document.corpus == "synthetic" else f"`{document.corpus}`"


def with_table(text: str, table: str) -> str:
    """A document with the table between its markers. Raises `InvalidInput` if it has not exactly one place for it."""
    head, found, rest = text.partition(BEGIN)
    _, closed, tail = rest.partition(END)
    if not found or not closed or BEGIN in rest:
        raise InvalidInput(
            "There is no place for the table.", hint=f"Put these lines where it belongs: {BEGIN} and {END}."
        )
    return f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}"
