"""`results.json`: what was measured, how, and on what."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gemini_companion import __version__
from gemini_companion.evaluation.cell import METHOD, CellResult
from gemini_companion.evaluation.plan import Plan
from gemini_companion.evaluation.recall_rows import RecallRow
from gemini_companion.evaluation.summary import Row, summarise


class Document(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything that a reader needs. But for `own_ms` and `cells_missing` the same whenever it is made."""

    product_version: str
    method: int
    plan: Plan
    corpus: str
    """The folder's name, or `synthetic`."""
    conversations: tuple[str, ...]
    cells: int
    cells_missing: int
    """Cells that were planned and not run: it was interrupted, or they failed."""
    faults: tuple[str, ...]
    """Why cells failed, each reason once."""
    rows: tuple[Row, ...]
    recall: tuple[RecallRow, ...] = ()
    own_ms: dict[str, float] = {}
    """Median processor time of a compression in ms, by arm, strategy and summariser, whose own is in it."""


def document_of(
    plan: Plan,
    results: Sequence[CellResult],
    *,
    corpus: str,
    conversations: Sequence[str],
    planned: int,
    recall: Sequence[RecallRow] = (),
) -> Document:
    """The document of some results."""
    good = [result for result in results if not result.fault]
    return Document(
        product_version=__version__,
        method=METHOD,
        plan=plan,
        corpus=corpus,
        conversations=tuple(conversations),
        cells=len(good),
        cells_missing=planned - len(good),
        faults=tuple(dict.fromkeys(result.fault for result in results if result.fault)),
        rows=tuple(summarise(good, plan.passes)),
        recall=tuple(recall),
        own_ms=_own_ms(good),
    )


def _own_ms(results: Sequence[CellResult]) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for result in results:
        label = " ".join(filter(None, (result.cell.arm, result.cell.strategy, result.cell.summariser)))
        times.setdefault(label, []).extend(result.own_ms)
    return {label: sorted(own)[len(own) // 2] for label, own in sorted(times.items()) if own}
