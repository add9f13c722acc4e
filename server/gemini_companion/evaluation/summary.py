"""From the results of cells to a table: a row for each arm, strategy, summariser and pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.history.verdict import DEFAULT_STRATEGY
from gemini_companion.evaluation.arms import ARMS
from gemini_companion.evaluation.cell import Cell, CellResult
from gemini_companion.evaluation.graders import KINDS
from gemini_companion.evaluation.measuring import (
    ARTIFACT_KINDS,
    CACHED_PRICE,
    OUTPUT_PRICE,
    PassNumbers,
    Share,
    together,
)
from gemini_companion.evaluation.script import MEASURED, Measured
from gemini_companion.evaluation.statistics import Estimate, Sample, estimate

ARTIFACTS: Final = tuple(f"facts.{kind}" for kind in sorted(ARTIFACT_KINDS))

Metric = Callable[[PassNumbers], "Share | float | None"]


def _share(*prefixes: str) -> Metric:
    def value(numbers: PassNumbers) -> Share:
        return together(numbers.shares, [name for name in numbers.shares if name.startswith(prefixes)])

    return value


def _payback(numbers: PassNumbers) -> float | None:
    """Turns after which a pass has paid for itself; `None` if it never does."""
    saved = CACHED_PRICE * (numbers.tokens_before - numbers.tokens_after)
    cost = numbers.tokens_in + OUTPUT_PRICE * numbers.tokens_out + (1 - CACHED_PRICE) * numbers.tokens_after
    return cost / saved if saved > 0 else None


def _kept(numbers: PassNumbers) -> Share:
    """Everything labelled that has to stand."""
    return together(numbers.shares, [f"labels.{kind}" for kind in KINDS])


def _score_off(numbers: PassNumbers) -> float | None:
    """How far the product's own score is from what was really kept."""
    kept = _kept(numbers).value
    return None if kept is None or numbers.retention is None else abs(numbers.retention - kept)


METRICS: Final[Mapping[str, Metric]] = {
    "labels.kept": _kept,
    "score_off": _score_off,
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
    "installed": lambda numbers: float(numbers.is_installed),
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
"""What is reported of a pass. Every kind of label, probe and fact (`labels.open`, `facts.path`) is reported too."""

_OF_INSTALLED: Final = ("labels.", "needed.", "score_off", "retention", "of_said", "tokens")
"""Metrics of what a compression made: where it was refused everything still stands, and nothing is proved."""


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the table."""

    measured: Measured = "planted"
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
    groups: dict[tuple[Measured, str, str, str], list[CellResult]] = {}
    for result in sorted(results, key=lambda result: msgspec.json.encode(result.cell)):
        cell = result.cell
        groups.setdefault((cell.measured, cell.arm, cell.strategy, cell.summariser), []).append(result)
    order = {name: place for place, name in enumerate(ARMS)}
    keys = sorted(
        groups,
        key=lambda key: (MEASURED.index(key[0]), order.get(key[1], 99), key[2] != DEFAULT_STRATEGY, key[2], key[3]),
    )
    rows = (_row(key, groups[key], number) for key in keys for number in numbers)
    return [row for row in rows if row is not None]


def _is_baseline(arm: str) -> bool:
    return arm in ARMS and ARMS[arm].baseline is not None


def _row(key: tuple[Measured, str, str, str], results: Sequence[CellResult], number: int) -> Row | None:
    passes = [(result.cell, found) for result in results for found in result.passes if found.number == number]
    if not passes:
        return None
    kinds = sorted({name for _, found in passes for name in found.shares if not name.startswith("rules.")})
    metrics: dict[str, Metric] = {**METRICS, **{kind: _share(kind) for kind in kinds}}
    made = [*passes] if _is_baseline(key[1]) else [(cell, found) for cell, found in passes if found.is_installed]
    estimates = {
        metric: estimate(_samples(made if metric.startswith(_OF_INSTALLED) else passes, value))
        for metric, value in metrics.items()
    }
    undone = [result.undo_equal for result in results if result.undo_equal is not None]
    statuses: dict[str, int] = {}
    for _, found in passes:
        statuses[found.status] = statuses.get(found.status, 0) + 1
    return Row(
        measured=key[0],
        arm=key[1],
        strategy=key[2],
        summariser=key[3],
        number=number,
        metrics={metric: found for metric, found in estimates.items() if found is not None},
        undo_equal=Share(sum(undone), len(undone)) if undone else None,
        statuses=dict(sorted(statuses.items())),
    )


def _samples(passes: Sequence[tuple[Cell, PassNumbers]], value: Metric) -> list[Sample]:
    samples: list[Sample] = []
    for cell, numbers in passes:
        found = value(numbers)
        if isinstance(found, Share):
            samples.append(Sample(cell.conversation, cell.seed, found.value or 0.0, found.of))
        elif found is not None:
            samples.append(Sample(cell.conversation, cell.seed, float(found)))
    return samples
