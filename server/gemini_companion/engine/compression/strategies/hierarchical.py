"""`hierarchical`: the newest 30 % whole, what lies before as a snapshot, what lies before that as its shortened layer.

An earlier snapshot is never given to a model again: the new one is written of the fresh contents alone, and the earlier
one's lines are put in front of it by rule, so no detail changes from pass to pass, and each pass costs less. All
earlier lines together may have twice what a new snapshot may have, so that they do not pile up from pass to pass; the
least worthy leave first, oldest first, and rules have as much once more. Keeps old facts as they were written; a task
that was open then and is met now stands twice, the earlier line marked as earlier.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from gemini_companion.engine.compression.answer import wrap
from gemini_companion.engine.compression.split import SPLIT_FRACTION
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.split import split_cutting
from gemini_companion.engine.compression.types import LogState, Plan, Trim
from gemini_companion.engine.facts.neutralise import SECTIONS
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.statements import tokens_in
from gemini_companion.engine.history.verdict import StrategyName

EARLIER_TOKENS: Final = 4_000
"""Tokens that the lines of earlier snapshots may have together at most, rules not counted,"""

RULES_TOKENS: Final = 2_000
"""and the rules that they name: the person's own stand beside the history, word for word."""

_LAYERS: Final = 2
"""Times what a new snapshot may have. With one, little more is left than without layers; without a bound each pass
saved less than the one before.
"""

_EARLIER: Final = "(earlier) "
_PASSING: Final = ("overall_goal", "recent_actions", "task_state")
"""Sections that say how things stood then; their earlier lines are marked."""
_FIRST_TO_LEAVE: Final = (
    "recent_actions",
    "file_system_state",
    "task_state",
    "overall_goal",
    "key_knowledge",
    "artifact_trail",
)
_RULES: Final = "active_constraints"


class HierarchicalStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "hierarchical"

    def choose(self, layout: Layout) -> Cutting:
        """Where `split` cuts."""
        return split_cutting(layout, SPLIT_FRACTION)

    def plan(self, trim: Trim, log: LogState) -> Plan | None:
        """As `split`; an earlier snapshot becomes a layer of the new one."""
        plan = super().plan(trim, log)
        if plan is None or plan.previous_snapshot is None:
            return plan
        return replace(plan, previous_snapshot=None, layers=(plan.previous_snapshot,))

    def finish(self, plan: Plan, written: str) -> str:
        """The earlier lines, shortened, then the new ones, section by section."""
        return layered(plan.layers, written, _LAYERS * plan.snapshot_tokens)


def layered(layers: Sequence[str], written: str, tokens: int = EARLIER_TOKENS) -> str:
    """One snapshot of earlier ones, oldest first, in so many tokens, and the newest. Linear in their length."""
    if not layers:
        return written
    fresh = read_earlier(written)
    earlier: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for layer in layers:
        for name, entries in read_earlier(layer).items():
            earlier[name].extend(_marked(entry) if name in _PASSING else entry for entry in entries)
    for name in SECTIONS:
        new = set(fresh[name])
        earlier[name] = [entry for entry in dict.fromkeys(earlier[name]) if entry not in new]
    _shorten(earlier, tokens)
    lines: list[str] = []
    for name in SECTIONS:
        lines += [f"<{name}>", *([*earlier[name], *fresh[name]] or ["none"]), f"</{name}>"]
    return wrap("\n".join(lines))


def _marked(entry: str) -> str:
    if _EARLIER in entry[: len(_EARLIER) + 2]:
        return entry
    bullet = entry[:2] if entry[:2] in ("- ", "* ") else ""
    return f"{bullet}{_EARLIER}{entry.removeprefix(bullet)}"


def _shorten(earlier: dict[str, list[str]], tokens: int) -> None:
    """Leave out the least worthy entries, oldest first, until the rest fits."""
    earlier[_RULES] = _fitting(earlier[_RULES], min(tokens, RULES_TOKENS))
    left: float = min(tokens, EARLIER_TOKENS)
    for name in reversed(_FIRST_TO_LEAVE):
        earlier[name] = _fitting(earlier[name], left)
        left -= sum(map(tokens_in, earlier[name]))


def _fitting(entries: list[str], tokens: float) -> list[str]:
    """The newest entries that fit."""
    spent = list(accumulate(tokens_in(entry) for entry in reversed(entries)))
    return entries[len(entries) - bisect_right(spent, tokens) :]
