"""From the results of cells to a table: a row for each arm, strategy, summariser and pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from gemini_companion.evaluation.arms import ARMS
from gemini_companion.evaluation.cell import Cell, CellResult
from gemini_companion.evaluation.measuring import (
    ARTIFACT_KINDS,
    CACHED_PRICE,
    OUTPUT_PRICE,
    PassNumbers,
    Share,
    together,
)
from gemini_companion.evaluation.statistics import Estimate, Sample, estimate

ARTIFACTS: Final = tuple(f"facts.{kind}" for kind in sorted(ARTIFACT_KINDS))

Metric = Callable[[PassNumbers], "float | None"]


def _share(*prefixes: str) -> Metric:
    def value(numbers: PassNumbers) -> float | None:
        names = [name for name in numbers.shares if name.startswith(prefixes)]
        return together(numbers.shares, names).value

    return value


def _payback(numbers: PassNumbers) -> float | None:
    """Turns after which a pass has paid for itself; `None` if it never does."""
    saved = CACHED_PRICE * (numbers.tokens_before - numbers.tokens_after)
    cost = numbers.tokens_in + OUTPUT_PRICE * numbers.tokens_out + (1 - CACHED_PRICE) * numbers.tokens_after
    return cost / saved if saved > 0 else None


METRICS: Final[Mapping[str, Metric]] = {
    "rules": _share("rules."),
    "rules.hard": _share("rules.hard"),
    "rules.soft": _share("rules.soft"),
    "probes": _share("probes."),
    "facts": _share("facts."),
    "kept": _share("probes.", "facts."),
    "artifacts": _share(*ARTIFACTS, "probes.artifact"),
    "ratio": lambda numbers: numbers.tokens_after / max(1, numbers.tokens_before),
    "tokens": lambda numbers: numbers.tokens_after,
    "of_said": lambda numbers: numbers.tokens_after / max(1, numbers.tokens_said),
    "installed": lambda numbers: float(numbers.status in ("COMPRESSED", "CONTENT_TRUNCATED")),
    "calls": lambda numbers: numbers.calls,
    "summary_tokens": lambda numbers: numbers.tokens_in + numbers.tokens_out,
    "net_tokens": lambda numbers: numbers.net_tokens,
    "payback_turns": _payback,
    "retention": lambda numbers: numbers.retention,
    "appended": lambda numbers: numbers.appended,
    "unsupported": lambda numbers: numbers.unsupported,
    "invented": lambda numbers: numbers.invented,
    "model_ms": lambda numbers: numbers.virtual_ms,
}
"""What is reported of a pass. Kinds of probes and facts (`probes.recall`, `facts.path`) are reported too."""


EVERY: Final = "all summarisers"


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the table."""

    arm: str
    strategy: str
    summariser: str
    number: int
    """The pass, from 1."""
    metrics: dict[str, Estimate]
    undo_equal: Share | None = None
    """Runs whose undo brought back everything, of those that had something to undo."""
    statuses: dict[str, int]

    @property
    def label(self) -> str:
        """Arm and strategy in a word or two."""
        return f"{self.arm} · {self.strategy}" if self.strategy else self.arm

    def mean(self, metric: str) -> float | None:
        """A metric's mean."""
        found = self.metrics.get(metric)
        return found.mean if found else None


def summarise(results: Iterable[CellResult], numbers: Sequence[int]) -> list[Row]:
    """The rows for these passes, arms in their order. The order of the results does not matter."""
    groups: dict[tuple[str, str, str], list[CellResult]] = {}
    for result in sorted(results, key=lambda result: msgspec.json.encode(result.cell)):
        cell = result.cell
        groups.setdefault((cell.arm, cell.strategy, cell.summariser), []).append(result)
    order = {name: place for place, name in enumerate(ARMS)}
    keys = sorted(groups, key=lambda key: (order.get(key[0], 99), key[1] != "split", key[1], key[2]))
    rows = (_row(key, groups[key], number) for key in keys for number in numbers)
    return [row for row in rows if row is not None]


def strategies_of(results: Iterable[CellResult], number: int) -> list[Row]:
    """A row for each strategy after a pass, over all summarisers: of the first arm of the product that was run."""
    product = [result for result in results if result.cell.strategy]
    first = next((name for name in ARMS if any(result.cell.arm == name for result in product)), "")
    pooled = [
        msgspec.structs.replace(result, cell=msgspec.structs.replace(result.cell, summariser=EVERY))
        for result in product
        if result.cell.arm == first
    ]
    rows = summarise(pooled, [number])
    return rows if len(rows) > 1 else []


def _row(key: tuple[str, str, str], results: Sequence[CellResult], number: int) -> Row | None:
    passes = [(result.cell, found) for result in results for found in result.passes if found.number == number]
    if not passes:
        return None
    kinds = sorted({name for _, found in passes for name in found.shares if not name.startswith("rules.")})
    metrics: dict[str, Metric] = {**METRICS, **{kind: _share(kind) for kind in kinds}}
    estimates = {metric: estimate(_samples(passes, value)) for metric, value in metrics.items()}
    undone = [result.undo_equal for result in results if result.undo_equal is not None]
    statuses: dict[str, int] = {}
    for _, found in passes:
        statuses[found.status] = statuses.get(found.status, 0) + 1
    return Row(
        arm=key[0],
        strategy=key[1],
        summariser=key[2],
        number=number,
        metrics={metric: found for metric, found in estimates.items() if found is not None},
        undo_equal=Share(sum(undone), len(undone)) if undone else None,
        statuses=dict(sorted(statuses.items())),
    )


def _samples(passes: Sequence[tuple[Cell, PassNumbers]], value: Metric) -> list[Sample]:
    samples: list[Sample] = []
    for cell, numbers in passes:
        found = value(numbers)
        if found is not None:
            samples.append(Sample(cell.conversation, cell.seed, float(found)))
    return samples
