"""`record`: the newest 15 % stays whole; of the rest the person's words do, the model's by worth, calls by line.

What is kept is quoted beside the snapshot (`engine.record`), and made anew of the log at every pass, so that it does
not wear away. The snapshot says on top what a record cannot: the goal, what is open. So little depends on who writes
it. Costs two calls over 85 % of the history, and a longer view than `split` with a good summary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.split import split_cutting
from gemini_companion.engine.compression.types import LogState, Plan, Trim
from gemini_companion.engine.history.verdict import StrategyName

HIDDEN_SHARE: Final = 0.85
"""A tail of 30 % costs 7 points of the size more, and nothing that was labelled is better kept for it."""
_LEAST_HIDDEN: Final = 0.5
"""Share of the weight before the last prompt from which that prompt and its run stay, where nothing else would."""
_SNAPSHOT_SHARE: Final = 25
_LEAST_SNAPSHOT: Final = 150
"""A snapshot from the facts has a twenty-fifth of what it hides: what it would quote stands in the record."""


class RecordStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "record"

    def choose(self, layout: Layout) -> Cutting:
        """Before the newest 15 %; the last prompt and what it led to stay where most stands before them."""
        cutting = split_cutting(layout, HIDDEN_SHARE)
        if cutting.split_at < len(layout.items) or not layout.boundaries:
            return cutting
        last = layout.with_editor_state(layout.boundaries[-1])
        enough = layout.weight_before[last] >= _LEAST_HIDDEN * layout.weight_before[-1]
        return Cutting(last) if enough else cutting

    def plan(self, trim: Trim, log: LogState) -> Plan | None:
        """As the others, with a record."""
        plan = super().plan(trim, log)
        if plan is None:
            return None
        return replace(
            plan, has_record=True, snapshot_tokens=max(_LEAST_SNAPSHOT, plan.hidden_tokens // _SNAPSHOT_SHARE)
        )
