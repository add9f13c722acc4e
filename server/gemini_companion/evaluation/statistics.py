"""Means with intervals. Conversations are drawn anew with all their cells: what those have in common is no evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
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
    of: int = 0
    """How many things are counted, in all cells together; the cells themselves where a number is no share."""


class Sample(msgspec.Struct, frozen=True):
    """A number from one cell."""

    conversation: str
    seed: int
    value: float
    weight: float = 1
    """How many things it is a share of, so that each of those counts alike."""


def estimate(samples: Sequence[Sample]) -> Estimate | None:
    """The estimate of a sample's mean, `None` of nothing."""
    samples = [sample for sample in samples if sample.weight]
    if not samples:
        return None
    clusters = _by(samples, lambda sample: sample.conversation)
    low, high = _interval([*clusters.values()])
    seeds = [_mean(values) for values in _by(samples, lambda sample: sample.seed).values()]
    return Estimate(
        mean=_rounded(_mean(samples)),
        low=_rounded(low),
        high=_rounded(high),
        worst_seed=_rounded(min(seeds)),
        best_seed=_rounded(max(seeds)),
        conversations=len(clusters),
        cells=len(samples),
        of=round(sum(sample.weight for sample in samples)),
    )


def _mean(samples: Sequence[Sample]) -> float:
    return fmean((sample.value for sample in samples), [sample.weight for sample in samples])


def _interval(clusters: Sequence[Sequence[Sample]]) -> tuple[float, float]:
    """The percentiles of the means of `DRAWS` draws of conversations with all their cells."""
    sums = [sum(sample.value * sample.weight for sample in samples) for samples in clusters]
    counts = [sum(sample.weight for sample in samples) for samples in clusters]
    means = sorted(
        sum(map(sums.__getitem__, drawn)) / sum(map(counts.__getitem__, drawn)) for drawn in _draws(len(clusters))
    )
    outside = round(DRAWS * (1 - CONFIDENCE) / 2)
    return means[outside], means[-outside - 1]


@cache
def _draws(count: int) -> tuple[tuple[int, ...], ...]:
    """Indexes of so many conversations, drawn with replacement: the same for every number, so that arms compare."""
    random_ = seeded("bootstrap", count)
    return tuple(tuple(random_.choices(range(count), k=count)) for _ in range(DRAWS))


def _by(samples: Sequence[Sample], key: Callable[[Sample], object]) -> Mapping[object, list[Sample]]:
    groups: dict[object, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(key(sample), []).append(sample)
    return groups


def _rounded(value: float) -> float:
    return round(value, 6)
