"""A curated view as strategies see it: weights, boundaries, and the blocks that earlier compressions left in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from gemini_companion.engine.compression.types import LogState, Trim
from gemini_companion.engine.history.covering import outermost
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item, Shape
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.part import has_call, is_truthy


class Layout:
    """What can be known of a view before it is decided where to cut. Every property is linear in its contents."""

    def __init__(self, trim: Trim, log: LogState) -> None:
        self.items: Sequence[Item] = trim.cut_items
        self.log = log

    @cached_property
    def weights(self) -> list[int]:
        """Of each content, the length of its compact JSON."""
        return [item.weight for item in self.items]

    @cached_property
    def weight_before(self) -> list[int]:
        """`weight_before[i]` is the weight of everything before index `i`; one more than there are contents."""
        return list(accumulate(self.weights, initial=0))

    @cached_property
    def replacements(self) -> list[int]:
        """Indexes of what compressions and pins put there, rising."""
        return [index for index, item in enumerate(self.items) if item.kind in REPLACEMENT_KINDS]

    @property
    def is_closed(self) -> bool:
        """True if everything may be hidden: the last content is the model's and calls nothing."""
        last = self.items[-1].content
        return last.role == "model" and not has_call(last)

    @cached_property
    def block_starts(self) -> list[int]:
        """For each index the first index of its block, or itself.

        A block is what one compression in force left: the contents that it kept, and its replacement. Its span of
        sequence numbers is hidden as a whole or not at all, so nothing may be cut inside.
        """
        spans = standing_spans(self.log.in_force)
        if not spans:
            return list(range(len(self.items)))
        firsts = [first for first, _ in spans]
        starts: list[int] = []
        block = -1
        for index, item in enumerate(self.items):
            found = bisect_right(firsts, item.seq) - 1
            inside = found if found >= 0 and item.seq <= spans[found][1] else -1
            starts.append(starts[-1] if inside >= 0 and inside == block else index)
            block = inside
        return starts

    def first_seq(self, index: int) -> int:
        """The lowest sequence number that belongs to what begins at `index`, which is no index inside of a block."""
        seq = self.items[index].seq
        return next((first for first, last in standing_spans(self.log.in_force) if first <= seq <= last), seq)

    @cached_property
    def prompts(self) -> list[int]:
        """The plain user contents that people wrote, rising, unless results of the calls before them follow."""
        found: list[int] = []
        results_follow = False
        for index, item in zip(range(len(self.items) - 1, -1, -1), reversed(self.items), strict=True):
            if (shape := item.shape) is Shape.RESULTS:
                results_follow = True
            elif shape is not Shape.PLAIN_USER:  # the model's
                results_follow = False
            elif not results_follow and item.kind not in REPLACEMENT_KINDS and item.kind != "ide":
                found.append(index)
        return found[::-1]

    @cached_property
    def boundaries(self) -> list[int]:
        """Where a span may end, rising: before the prompts that stand in no block."""
        return [index for index in self.prompts if self.block_starts[index] == index]

    def is_clean(self, index: int) -> bool:
        """Whether a cut at `index` parts no run of the model, and no call from its result."""
        items = self.items
        if 0 < index < len(items) and items[index].content.role == "model" == items[index - 1].content.role:
            return items[index].kind in REPLACEMENT_KINDS or items[index - 1].kind in REPLACEMENT_KINDS
        while index < len(items) and items[index].content.role == "user":
            if items[index].shape is Shape.RESULTS:
                return False
            index += 1
        return True

    def with_editor_state(self, index: int, *, least: int = 0) -> int:
        """`index`, or the first of the IDE entries right before it: the editor's state belongs to the prompt after it.

        Never below `least`.
        """
        while least < index < len(self.items) and self.items[index - 1].kind == "ide":
            index -= 1
        return index

    @cached_property
    def run_starts(self) -> list[int]:
        """Where an agent's run may be split, rising: before contents of the model whose calls are all answered."""
        return [
            index
            for index, item in enumerate(self.items)
            if item.content.role == "model"
            and item.kind not in REPLACEMENT_KINDS
            and (index == 0 or self.items[index - 1].content.role == "user")
            and self.block_starts[index] == index
            and self._is_answered(index)
        ]

    def _is_answered(self, start: int) -> bool:
        """True if the calls of the model's run at `start` all have results after it.

        Only the last round can lack some: curation has filled the others.
        """
        items, run_end = self.items, start
        calls = results = 0
        while run_end < len(items) and items[run_end].content.role == "model":
            calls += sum(1 for part in items[run_end].content.parts if is_truthy(part.get("functionCall")))
            run_end += 1
        while run_end < len(items) and items[run_end].content.role == "user":
            results += sum(1 for part in items[run_end].content.parts if is_truthy(part.get("functionResponse")))
            run_end += 1
        return results >= calls


def standing_spans(in_force: Sequence[CompressionEntry]) -> list[tuple[int, int]]:
    """The spans that compressions in force hide and no other one covers, rising; they do not overlap."""
    spans = (compression.hides for compression in outermost(in_force))
    return sorted(span for span in spans if span is not None)
