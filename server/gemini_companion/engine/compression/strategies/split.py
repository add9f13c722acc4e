"""`split`: the older part of the history becomes a snapshot, the newest 30 % stays word for word.

From Gemini CLI, which splits by characters at the first plain prompt after 70 %. An agent's run of one prompt and many
tool rounds, which has no such place, is split inside, and its prompt kept. Of a history that is larger than the window
less stays, 30 % of the window, so that one compression is enough. Costs two calls over 70 % of the history; keeps the
newest exchange whole, and of the rest what the snapshot says.
"""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.compression.split import SPLIT_FRACTION, split_by_weight, split_inside_run
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.history.item import PROMPTS, REPLACEMENT_KINDS
from gemini_companion.engine.history.verdict import StrategyName

TOO_LITTLE: Final = 1 / 3
"""An agent's run is split inside if no plain user content lies far enough, and less than this share of the weight would
be hidden: so small a gain is used up after a few rounds.
"""


class SplitStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "split"

    def choose(self, layout: Layout) -> Cutting:
        """The first boundary past 70 % of the weight, or a place inside an agent's run."""
        return split_cutting(layout, SPLIT_FRACTION)


def split_cutting(layout: Layout, fraction: float) -> Cutting:
    """The cut that hides about `fraction` of the weight, inside an agent's run where no prompt lies far enough."""
    items, weights = layout.items, layout.weights
    fraction = fitting(layout, fraction)
    split_at = split_by_weight(weights, layout.boundaries, fraction, ends_closed=layout.is_closed)
    split_at = layout.with_editor_state(split_at)
    total = layout.weight_before[-1]
    gained = layout.weight_before[split_at] - sum(weights[index] for index in layout.replacements if index < split_at)
    if gained and (
        split_at == len(items) or layout.weight_before[split_at] >= total * fraction or gained >= total * TOO_LITTLE
    ):
        return Cutting(split_at)
    prompt_at = newest_prompt(layout)
    inside = run_split(layout, prompt_at, fraction)
    if inside <= split_at:
        return Cutting(split_at)
    return Cutting(inside, words_kept(layout, prompt_at, inside))


def fitting(layout: Layout, fraction: float) -> float:
    """`fraction`, or more for a view larger than the window: what stays is then a share of the window."""
    tokens = sum(item.measure.tokens for item in layout.items)
    return fraction if tokens <= layout.log.limit else 1 - (1 - fraction) * layout.log.limit / tokens


def newest_prompt(layout: Layout) -> int | None:
    """The prompt of the run under way, which may stand in a block; `None` if there is none."""
    return next((index for index in reversed(layout.prompts) if layout.items[index].kind == "prompt"), None)


def words_kept(layout: Layout, prompt_at: int | None, split_at: int) -> tuple[int, ...]:
    """What a person said in the run that stays in front of a cut inside it: its prompt, and their newest word.

    That is what steered the run last; where it stands behind the cut it stays in any case.
    """
    newest = next((index for index in reversed(layout.prompts) if layout.items[index].kind in PROMPTS), None)
    kept = (index for index in (prompt_at, newest) if index is not None and index < split_at)
    return tuple(dict.fromkeys(kept))


def run_split(layout: Layout, prompt_at: int | None, fraction: float) -> int:
    """Where to split inside the run of tool rounds after the prompt, or 0; a content of the run must lie before it."""
    own_contents = (
        index
        for index in range(0 if prompt_at is None else prompt_at + 1, len(layout.items))
        if layout.items[index].kind not in REPLACEMENT_KINDS and layout.items[index].kind != "ide"
    )
    first = next(own_contents, len(layout.items))
    return split_inside_run(layout.weights, layout.run_starts, fraction, first=first)
