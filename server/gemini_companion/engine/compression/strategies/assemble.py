"""`assemble`: no model is asked. Sanitise, validate, truncate, assemble.

From OpenClaw. What comes in is sanitised and valid already (curation), and large old outputs are cut (`trim_outputs`);
the first request and the newest 30 % stay, and what lies between is replaced by a snapshot that quotes its facts:
rules, decisions, paths, commands with their outcome, errors. Costs nothing but a moment on this machine, loses no fact
to a model's mood, and understands nothing: for what is only said between the lines, the other strategies do better.
"""

from __future__ import annotations

from dataclasses import replace

from gemini_companion.engine.compression.split import SPLIT_FRACTION
from gemini_companion.engine.compression.strategies.keeping import keep_tokens, newest_within, prompts_between
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.split import split_cutting
from gemini_companion.engine.compression.types import LogState, Plan, Trim
from gemini_companion.engine.history.verdict import StrategyName


class AssembleStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "assemble"

    def choose(self, layout: Layout) -> Cutting:
        """Where `split` cuts, with the first request kept."""
        cutting = split_cutting(layout, SPLIT_FRACTION)
        kept = {*self.keep(layout, cutting), *cutting.kept}
        return cutting._replace(kept=tuple(sorted(kept)))

    def keep(self, layout: Layout, cutting: Cutting) -> tuple[int, ...]:
        """The first request, if it is not too large."""
        first = prompts_between(layout, cutting.start_at, cutting.split_at)[:1]
        return newest_within(layout, first, keep_tokens(layout.log.limit) // 4)

    def plan(self, trim: Trim, log: LogState) -> Plan | None:
        """As the other strategies; the snapshot is written from the facts."""
        plan = super().plan(trim, log)
        return None if plan is None else replace(plan, asks_model=False)
