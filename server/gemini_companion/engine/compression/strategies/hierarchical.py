"""`hierarchical`: the newest 30 % whole, what lies before as a snapshot, what lies before that as its shortened layer.

An earlier snapshot is never given to a model again: the new one is written of the fresh contents alone, and the earlier
one's lines are put in front of it by rule, so no detail changes from pass to pass, and each pass costs less. When the
earlier lines outgrow their budget, the least worthy leave first, oldest first; rules have their own. Keeps old
facts as they were written; a task that was open then and is met now stands twice, the earlier line marked as earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gemini_companion.engine.compression.answer import wrap
from gemini_companion.engine.compression.split import SPLIT_FRACTION
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.split import split_cutting
from gemini_companion.engine.compression.types import LogState, Plan, Trim
from gemini_companion.engine.facts.neutralise import SECTIONS
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.history.verdict import StrategyName

EARLIER_CHARACTERS: Final = 16_000
"""Characters that the lines of earlier snapshots may have together, rules not counted."""

RULES_CHARACTERS: Final = 8_000
"""Characters of the rules that earlier snapshots name: the person's own stand beside the history, word for word."""

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
        return layered(plan.layers, written)


def layered(layers: Sequence[str], written: str) -> str:
    """One snapshot of earlier ones, oldest first, and the newest. Linear in their length."""
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
    _shorten(earlier)
    lines: list[str] = []
    for name in SECTIONS:
        lines += [f"<{name}>", *([*earlier[name], *fresh[name]] or ["none"]), f"</{name}>"]
    return wrap("\n".join(lines))


def _marked(entry: str) -> str:
    if _EARLIER in entry[: len(_EARLIER) + 2]:
        return entry
    bullet = entry[:2] if entry[:2] in ("- ", "* ") else ""
    return f"{bullet}{_EARLIER}{entry.removeprefix(bullet)}"


def _shorten(earlier: dict[str, list[str]]) -> None:
    """Leave out the least worthy entries, oldest first, until the rest fits."""
    over = sum(len(entry) + 1 for name, entries in earlier.items() if name != _RULES for entry in entries)
    over -= EARLIER_CHARACTERS
    rules = earlier[_RULES]
    while rules and sum(len(entry) + 1 for entry in rules) > RULES_CHARACTERS:
        rules = rules[max(1, len(rules) // 8) :]
    earlier[_RULES] = rules
    for name in _FIRST_TO_LEAVE:
        gone = 0
        while over > 0 and gone < len(earlier[name]):
            over -= len(earlier[name][gone]) + 1
            gone += 1
        earlier[name] = earlier[name][gone:]
