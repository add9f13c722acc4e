"""Every strategy by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gemini_companion.engine.compression.strategies.split import SplitStrategy
from gemini_companion.engine.compression.types import Strategy
from gemini_companion.engine.history.verdict import StrategyName

DEFAULT_STRATEGY: Final[StrategyName] = "split"

STRATEGIES: Final[Mapping[StrategyName, Callable[[], Strategy]]] = {
    "split": SplitStrategy,
    "semantic": SplitStrategy,
    "selective": SplitStrategy,
    "hierarchical": SplitStrategy,
    "reserve": SplitStrategy,
    "assemble": SplitStrategy,
    "userMessages": SplitStrategy,
}
