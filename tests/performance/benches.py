"""The benchmarks: their names, the modules that measure, and the seconds that each may take of a whole run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Bench(NamedTuple):
    """A module of `tests.performance` with `run(options)`, and its part of the time."""

    module: str
    seconds: float


WHOLE: Final = 600.0
"""Seconds that a run of all of them may take."""
ALONE: Final = 900.0
"""Seconds of a benchmark that was asked for by its name."""

BENCHES: Final[Mapping[str, Bench]] = {
    "startup": Bench("startup", 110),
    "surrounded": Bench("surrounded", 40),
    "compression": Bench("compression", 120),
    "streaming": Bench("streaming", 25),
    "streams": Bench("many_streams", 60),
    "turns": Bench("turns", 60),
    "stored": Bench("stored", 150),
    "importing": Bench("importing", 40),
    "stalls": Bench("stalls", 90),
    "waiting": Bench("waiting", 120),
    "panel": Bench("panel", 60),
    "cancelling": Bench("cancelling", 15),
    "ideUpdates": Bench("ide_updates", 15),
    "memory": Bench("memory", 40),
    "recall": Bench("recall", 40),
    "rounds": Bench("rounds", 20),
    "prefix": Bench("prefix", 15),
    "servers": Bench("servers", 15),
    "agents": Bench("agents", 20),
    "outputs": Bench("outputs", 60),
    "tokenError": Bench("token_error", 30),
}
"""In order: what people wait for first, so that it is not what is left out."""
