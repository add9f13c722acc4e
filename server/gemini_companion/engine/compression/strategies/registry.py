"""Every strategy by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gemini_companion.engine.compression.strategies.assemble import AssembleStrategy
from gemini_companion.engine.compression.strategies.hierarchical import HierarchicalStrategy
from gemini_companion.engine.compression.strategies.record import RecordStrategy
from gemini_companion.engine.compression.strategies.reserve import ReserveStrategy
from gemini_companion.engine.compression.strategies.selective import SelectiveStrategy
from gemini_companion.engine.compression.strategies.semantic import SemanticStrategy
from gemini_companion.engine.compression.strategies.split import SplitStrategy
from gemini_companion.engine.compression.strategies.user_messages import UserMessagesStrategy
from gemini_companion.engine.compression.types import Strategy
from gemini_companion.engine.history.verdict import StrategyName

STRATEGIES: Final[Mapping[StrategyName, Callable[[], Strategy]]] = {
    "split": SplitStrategy,
    "semantic": SemanticStrategy,
    "selective": SelectiveStrategy,
    "hierarchical": HierarchicalStrategy,
    "reserve": ReserveStrategy,
    "assemble": AssembleStrategy,
    "userMessages": UserMessagesStrategy,
    "record": RecordStrategy,
}
