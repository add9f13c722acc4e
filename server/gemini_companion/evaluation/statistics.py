"""Means with intervals. Conversations are drawn anew with all their cells: what those have in common is no evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Final

import msgspec

from gemini_companion.evaluation.chance import seeded

DRAWS: Final = 1_000
CONFIDENCE: Final = 0.95


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A mean, the interval that holds it with a confidence of 95 %, and how far seeds differ."""

    mean: float
    low: float
    high: float
    worst_seed: float
    """The lowest mean of a seed."""
    best_seed: float
    conversations: int
    cells: int


class Sample(msgspec.Struct, frozen=True):
    """A number from one cell."""

    conversation: str
    seed: int
    value: float


def estimate(samples: Sequence[Sample], *, name: str) -> Estimate | None:
    """The estimate of a sample's mean, `None` of nothing. `name` seeds the draws, so that they repeat."""
    if not samples:
        return None
    clusters = _by(samples, lambda sample: sample.conversation)
    low, high = _interval([*clusters.values()], name)
    seeds = [fmean(values) for values in _by(samples, lambda sample: sample.seed).values()]
    return Estimate(
        mean=_rounded(fmean(sample.value for sample in samples)),
        low=_rounded(low),
        high=_rounded(high),
        worst_seed=_rounded(min(seeds)),
        best_seed=_rounded(max(seeds)),
        conversations=len(clusters),
        cells=len(samples),
    )


def _interval(clusters: Sequence[Sequence[float]], name: str) -> tuple[float, float]:
    """The percentiles of the means of `DRAWS` draws of conversations with all their cells."""
    sums = [(sum(values), len(values)) for values in clusters]
    random_ = seeded("bootstrap", name)
    means: list[float] = []
    for _ in range(DRAWS):
        drawn = random_.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    outside = round(DRAWS * (1 - CONFIDENCE) / 2)
    return means[outside], means[-outside - 1]


def _by(samples: Sequence[Sample], key: Callable[[Sample], object]) -> Mapping[object, list[float]]:
    groups: dict[object, list[float]] = {}
    for sample in samples:
        groups.setdefault(key(sample), []).append(sample.value)
    return groups


def _rounded(value: float) -> float:
    return round(value, 6)
