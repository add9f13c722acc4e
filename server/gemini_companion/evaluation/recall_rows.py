"""How well recall finds what was said: the rows of the report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from gemini_companion.engine.errors import InvalidInput


class RecallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One number with its interval."""

    name: str
    """What was asked of what, as a few words."""
    value: float
    low: float
    high: float
    of: int
    """Questions."""


def measure_recall(corpus: Path) -> tuple[RecallRow, ...]:
    """Ask the corpus's questions, and look whether the first five results hold an answer.

    Raises `InvalidInput` if the corpus has no questions.
    """
    from gemini_companion.evaluation.recall import evaluate_recall

    figures = evaluate_recall(corpus)
    if not figures:
        raise InvalidInput(
            f"{corpus} has no questions.", hint="Recall is measured on conversations with `qa` and on agents' runs."
        )
    rows: list[RecallRow] = []
    for found in figures:
        for what, shares in (("", found.turns_at), (", with neighbours", found.turns_with_neighbours_at)):
            share = shares[5]
            rows.append(
                RecallRow(
                    name=f"{found.task}, {found.arm}{what}",
                    value=round(share.value, 6),
                    low=round(share.low, 6),
                    high=round(share.high, 6),
                    of=found.questions,
                )
            )
    return tuple(rows)


def recall_lines(rows: Iterable[RecallRow]) -> list[list[str]]:
    """The rows as cells of a table, with a heading."""
    lines = [["recall: answering turns among the first 5", "found", "95 %", "questions"]]
    for row in rows:
        interval = f"[{100 * row.low:.0f}, {100 * row.high:.0f}]"
        lines.append([row.name, f"{100 * row.value:.0f} %", interval, str(row.of)])
    return lines
