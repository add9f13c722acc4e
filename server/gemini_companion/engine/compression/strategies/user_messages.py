"""`userMessages`: of everything only what people wrote stays, up to 20,000 tokens, and behind it the snapshot.

From Codex. Costs two calls over the whole history. Keeps every recent request and rule word for word, and nothing of
what the model said or did but through the snapshot: the shortest view of all, and the one that leans most on the
summary.
"""

from __future__ import annotations

from gemini_companion.engine.compression.strategies.keeping import keep_tokens, newest_within, prompts_between
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.split import split_cutting
from gemini_companion.engine.history.verdict import StrategyName

_ALMOST_ALL = 0.99


class UserMessagesStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "userMessages"

    def choose(self, layout: Layout) -> Cutting:
        """Everything; of a run that is under way, what lies before its last rounds."""
        cutting = Cutting(len(layout.items)) if layout.is_closed else split_cutting(layout, _ALMOST_ALL)
        kept = {*self.keep(layout, cutting), *cutting.kept}
        return cutting._replace(kept=tuple(sorted(kept)))

    def keep(self, layout: Layout, cutting: Cutting) -> tuple[int, ...]:
        """The newest prompts of the span that fit into the budget."""
        prompts = prompts_between(layout, cutting.start_at, cutting.split_at)
        return newest_within(layout, prompts, keep_tokens(layout.log.limit))
