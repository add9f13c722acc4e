"""`semantic`: like `split`, but it cuts where a topic or a task ends, between half and nine tenths of the history.

Each prompt in that range is a boundary with a score:

    new words - 0.8 if an error episode is open there + 0.3 after half an hour, 0.5 after four - 2 * distance from 70 %

*New words* is the share of the prompt's words and paths that the two turns before do not have; of a prompt with fewer
than three words, such as "go on", none are new. An *error episode* lasts from a call that failed to the next one of the
same program that worked. Costs what `split` costs, with a tail of a tenth to a half of the history; keeps an episode
whole on one side.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from gemini_companion.engine.compression.split import SPLIT_FRACTION
from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.compression.strategies.plan import Cutting, CuttingStrategy
from gemini_companion.engine.compression.strategies.signs import failures, topic_words
from gemini_companion.engine.compression.strategies.split import fitting, split_cutting
from gemini_companion.engine.history.verdict import StrategyName

LEAST_SHARE: Final = 0.5
MOST_SHARE: Final = 0.9
"""Shares of the weight between which a boundary may lie."""

_FEWEST_WORDS: Final = 3
_TURNS_BEFORE: Final = 2
_OPEN_EPISODE: Final = 0.8
_DISTANCE: Final = 2.0
_GAPS: Final = ((4 * 3_600_000, 0.5), (1_800_000, 0.3))
"""Pauses in milliseconds, and what they add."""


class SemanticStrategy(CuttingStrategy):
    """See the module."""

    name: StrategyName = "semantic"

    def choose(self, layout: Layout) -> Cutting:
        """The boundary with the best score, or where `split` cuts if none lies in the range."""
        total = max(1, layout.weight_before[-1])
        aim = fitting(layout, SPLIT_FRACTION)
        least = LEAST_SHARE if aim == SPLIT_FRACTION else aim
        near = [
            index
            for index in layout.boundaries
            if least <= layout.weight_before[layout.with_editor_state(index)] / total <= max(MOST_SHARE, aim)
        ]
        if not near:
            return split_cutting(layout, SPLIT_FRACTION)
        scores = _scores(layout, near, total, aim)
        best = max(range(len(near)), key=lambda place: (scores[place], near[place]))
        return Cutting(layout.with_editor_state(near[best]))


def _scores(layout: Layout, near: list[int], total: int, aim: float) -> list[float]:
    inside = _inside_episodes(layout, near[-1])
    turns = [index for index in layout.boundaries if index <= near[-1]]
    first = max(0, bisect_left(turns, near[0]) - _TURNS_BEFORE)
    words: list[set[str]] = []
    for place in range(first, len(turns)):
        end = turns[place + 1] if place + 1 < len(turns) else turns[place] + 1
        words.append({word for index in range(turns[place], end) for word in topic_words(layout, index)})
    scores: list[float] = []
    for index in near:
        place = bisect_left(turns, index) - first
        asked = topic_words(layout, index)
        known = {word for said in words[max(0, place - _TURNS_BEFORE) : place] for word in said}
        new = len(asked - known) / len(asked) if len(asked) >= _FEWEST_WORDS else 0.0
        share = layout.weight_before[layout.with_editor_state(index)] / total
        scores.append(new + _gap(layout, index) - _OPEN_EPISODE * inside[index] - _DISTANCE * abs(share - aim))
    return scores


def _inside_episodes(layout: Layout, last: int) -> list[bool]:
    """For each index up to `last`, whether an error episode that is resolved later is open before it."""
    steps = [0] * (len(layout.items) + 2)
    for opened, closed in failures(layout, 0, len(layout.items)):
        if closed is not None:
            steps[opened + 1] += 1
            steps[closed + 1] -= 1
    inside: list[bool] = []
    depth = 0
    for index in range(last + 1):
        depth += steps[index]
        inside.append(depth > 0)
    return inside


def _gap(layout: Layout, index: int) -> float:
    if index == 0:
        return 0.0
    now, before = layout.log.times(layout.items[index].seq), layout.log.times(layout.items[index - 1].seq)
    if now is None or before is None:
        return 0.0
    return next((points for pause, points in _GAPS if now - before >= pause), 0.0)
