"""The names of strategies, as they are typed on a command line."""

from __future__ import annotations

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.verdict import StrategyName


def known_strategy(name: str) -> StrategyName:
    """The strategy of a name. Raises `InvalidInput`, which names them all, for an unknown one."""
    from gemini_companion.engine.compression.strategies.registry import STRATEGIES

    for known in STRATEGIES:
        if known == name:
            return known
    raise InvalidInput(f"{name!r} is no strategy.", hint=f"Known: {', '.join(STRATEGIES)}.")
