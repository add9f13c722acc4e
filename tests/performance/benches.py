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
    "startup": Bench("startup", 60),
    "surrounded": Bench("surrounded", 30),
    "compression": Bench("compression", 105),
    "gate": Bench("gate", 60),
    "streaming": Bench("streaming", 20),
    "streams": Bench("many_streams", 70),
    "turns": Bench("turns", 20),
    "stored": Bench("stored", 85),
    "importing": Bench("importing", 20),
    "stalls": Bench("stalls", 85),
    "waiting": Bench("waiting", 45),
    "panel": Bench("panel", 90),
    "cancelling": Bench("cancelling", 8),
    "ideUpdates": Bench("ide_updates", 8),
    "memory": Bench("memory", 55),
    "recall": Bench("recall", 10),
    "rounds": Bench("rounds", 10),
    "prefix": Bench("prefix", 8),
    "servers": Bench("servers", 6),
    "agents": Bench("agents", 8),
    "outputs": Bench("outputs", 40),
    "tokenError": Bench("token_error", 4),
}
"""In order: what people wait for first, so that it is not what is left out."""
