"""`selective`: the newest 30 % stays, and of the rest what matters most, word for word; a snapshot says the others.

What may stay, and its importance:

| | points |
| --- | --- |
| a prompt that lays down a rule | 100 |
| the failure that nothing resolved, with its call | 60 |
| the last change of a file | 40 |
| any other prompt | 30 |
| what the model said when it decided something | 25 |

The highest go first, the newer of two alike, within a fifth of what is hidden and at most 10,000 tokens; nothing that
takes more than a third of that stays. A call stays with its result, and with the prompt that it works for. Costs what
`split` costs, and a longer view; in return paths, commands and rules do not pass through a summary.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple

from gemini_companion.engine.compression.split import SPLIT_FRACTION
from gemini_companion.engine.compression.strategies.keeping import (
    keep_tokens,
    prompts_between,
    rounds_between,
    tokens_of,
)
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.signs import deeds, own_text
from gemini_companion.engine.compression.strategies.split import split_cutting
from gemini_companion.engine.facts.rules import is_decision, is_rule
from gemini_companion.engine.facts.sentences import sentences
from gemini_companion.engine.history.verdict import StrategyName

RULE, FAILURE, CHANGE, PROMPT, DECISION = 100, 60, 40, 30, 25
BUDGET_SHARE: Final = 5
_LARGEST_SHARE: Final = 3


class _Unit(NamedTuple):
    """Contents that stay together or not at all."""

    points: int
    indexes: tuple[int, ...]


class SelectiveStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "selective"

    def choose(self, layout: Layout) -> Cutting:
        """Where `split` cuts, and what stays before it."""
        cutting = split_cutting(layout, SPLIT_FRACTION)
        kept = {*self.keep(layout, cutting), *cutting.kept}
        return cutting._replace(kept=tuple(sorted(kept)))

    def keep(self, layout: Layout, cutting: Cutting) -> tuple[int, ...]:
        """The most important contents of the span that fit into the budget."""
        start, end = cutting.start_at, cutting.split_at
        budget = min(tokens_of(layout, range(start, end)) // BUDGET_SHARE, keep_tokens(layout.log.limit) // 2)
        largest = budget // _LARGEST_SHARE
        kept: set[int] = set()
        for unit in sorted(_units(layout, start, end), key=lambda unit: (-unit.points, -unit.indexes[-1])):
            cost = tokens_of(layout, (index for index in unit.indexes if index not in kept))
            if cost <= min(budget, largest):
                budget -= cost
                kept.update(unit.indexes)
        return tuple(sorted(kept))


def _units(layout: Layout, start: int, end: int) -> list[_Unit]:
    prompts = prompts_between(layout, start, end)
    units = [_Unit(RULE if _lays_down_a_rule(layout, index) else PROMPT, (index,)) for index in prompts]
    points = _points_of_calls(layout, start, end)
    for model, results in rounds_between(layout, start, end):
        worth = max((points.get(index, 0) for index in model), default=0)
        if not worth and not results and any(_decides(layout, index) for index in model):
            worth = DECISION
        asked = bisect_right(prompts, model[0]) - 1
        if worth and asked >= 0:  # what the model said or did never stands without what it was asked
            units.append(_Unit(worth, (prompts[asked], *model, *results)))
    return units


def _points_of_calls(layout: Layout, start: int, end: int) -> dict[int, int]:
    """By the index of the content with the call: the last change of a file, the last failure that stands."""
    changed: dict[str, int] = {}
    failed: dict[str, int] = {}
    for deed in deeds(layout, start, end):
        for path in deed.changed:
            changed[path] = deed.at
        if deed.failed:
            failed[deed.key] = deed.at
        else:
            failed.pop(deed.key, None)
    return {**dict.fromkeys(changed.values(), CHANGE), **dict.fromkeys(failed.values(), FAILURE)}


def _lays_down_a_rule(layout: Layout, index: int) -> bool:
    return any(map(is_rule, sentences(own_text(layout, index))))


def _decides(layout: Layout, index: int) -> bool:
    return any(map(is_decision, sentences(own_text(layout, index))))
