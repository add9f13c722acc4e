"""What the strategy `record` keeps over its size: `python -m tests.evaluation.curve` prints the table of ARCHITECTURE.

Of the conversations with labels, after four compressions with talk in between, by a summariser that says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gemini_companion.engine.compression import gate
from gemini_companion.engine.compression.strategies import record as strategy
from gemini_companion.engine.record import record
from gemini_companion.evaluation.conversations import load_corpora
from gemini_companion.evaluation.execution import run_here
from gemini_companion.evaluation.measuring import together
from gemini_companion.evaluation.plan import Plan, cells_of

TAILS: Final = (0.05, 0.15, 0.3)
BUDGETS: Final = (0.25, 0.5, 1.0, 1.5)
"""Times those of today."""
PASSES: Final = 4
GROUPS: Final = (("rules",), ("decisions", "outcomes", "open"), ("findings", "changes"))
NATURAL: Final = Path(__file__).parents[1] / "data" / "natural"

_WORDS, _MODEL, _PROSE, _CALLS = record.WORDS_OF_WINDOW, record.MODEL, record.MODEL_PROSE, record.CALLS


def rows() -> Iterator[str]:
    """The lines of the table: each tail with today's budgets, then each budget with today's tail."""
    yield "| tail | budgets | rules | decisions, outcomes, open | findings, changes | size |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    tail = 1 - strategy.HIDDEN_SHARE
    for share, times in (*((one, 1.0) for one in TAILS), *((tail, one) for one in BUDGETS if one != 1)):
        _set(share, times)
        kept, size = _measured()
        shares = " | ".join(f"{one:.0%}".replace("%", " %") for one in (*kept, size))
        yield f"| {share:.0%} | × {times:g} | {shares} |".replace("% |", " % |", 1)


def _set(tail: float, times: float) -> None:
    strategy.HIDDEN_SHARE = 1 - tail
    for name, whole in (("MODEL", _MODEL), ("CALLS", _CALLS)):
        setattr(record, name, record.Share(whole.of_hidden * times, whole.of_window * times))
    for name, share in (("WORDS_OF_WINDOW", _WORDS), ("MODEL_PROSE", _PROSE)):
        setattr(record, name, share * times)

    def write(*sources: Any, own_words: float, **options: Any) -> Any:
        return record.write_record(*sources, own_words=min(1.0, own_words * times), **options)

    setattr(gate, "write_record", write)  # noqa: B010 (a constant to type checkers)


def _measured() -> tuple[list[float], float]:
    corpus = load_corpora([NATURAL])
    plan = Plan(arms=("full",), strategies=("record",), summarisers=("empty",), seeds=1, replicates=1, passes=(PASSES,))
    last = [result.passes[-1] for result in run_here(cells_of(plan, corpus, corpus), corpus, {})]
    kept: list[float] = []
    for group in GROUPS:
        shares = [together(numbers.shares, [f"labels.{kind}" for kind in group]) for numbers in last]
        kept.append(sum(one.kept for one in shares) / sum(one.of for one in shares))
    return kept, sum(numbers.tokens_after / numbers.tokens_said for numbers in last) / len(last)


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
