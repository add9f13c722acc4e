"""`reserve`: the newest 20,000 tokens stay word for word, however long the history is.

From Pi, which keeps so many tokens and starts when only so many are left as an answer may need; the trigger is
`sessions.trigger.RESERVE_TOKENS`. Costs two calls over almost the whole window, and rarely: it waits longest. Keeps a
tail of the same size in every window, which is little of a large one.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from gemini_companion.engine.compression.strategies.keeping import keep_tokens
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.split import newest_prompt, run_split, words_kept
from gemini_companion.engine.history.verdict import StrategyName


class ReserveStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "reserve"

    def choose(self, layout: Layout) -> Cutting | None:
        """The first boundary behind which no more stands than may stay; inside the last run, if that is larger."""
        tokens = [item.measure.tokens for item in layout.items]
        before = list(accumulate(tokens, initial=0))
        least = before[-1] - keep_tokens(layout.log.limit)
        if least <= 0:
            return None
        far = next((index for index in layout.boundaries if before[index] >= least), None)
        if far is not None:
            return Cutting(layout.with_editor_state(far))
        prompt_at = newest_prompt(layout)
        weight = layout.weight_before[bisect_left(before, least)]
        inside = run_split(layout, prompt_at, min(0.99, max(0.01, weight / max(1, layout.weight_before[-1]))))
        last = layout.with_editor_state(layout.boundaries[-1]) if layout.boundaries else 0
        if inside > last:
            return Cutting(inside, words_kept(layout, prompt_at, inside))
        return Cutting(len(tokens)) if layout.is_closed else Cutting(last)
