"""Medians that know how far their rounds lie apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Self


class Median(float):
    """The median of some rounds, which knows how far they lie apart: a `Figure` made of it has that from it. What is
    calculated from it is an ordinary number.
    """

    rounds: int
    spread: float
    """Half the distance between the quartiles."""

    def __new__(cls, values: Iterable[float]) -> Self:
        known = sorted(values)
        made = super().__new__(cls, statistics.median(known))
        quartiles = statistics.quantiles(known, n=4, method="inclusive") if len(known) > 1 else [0.0, 0.0, 0.0]
        made.rounds, made.spread = len(known), (quartiles[2] - quartiles[0]) / 2
        return made


def median(values: Iterable[float]) -> Median:
    """The median, with the spread. Raises `statistics.StatisticsError` where there is no value."""
    return Median(values)


def medians(figures: Mapping[str, list[float]]) -> dict[str, Median]:
    """The median of each."""
    return {name: median(values) for name, values in figures.items()}
