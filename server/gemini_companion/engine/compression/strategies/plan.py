"""From a cut to a plan, and from a plan to a change of the view: what every strategy has in common."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.compression.strategies.layout import Layout, standing_spans
from gemini_companion.engine.compression.substance import sections_of
from gemini_companion.engine.compression.types import FIRST_SEQ, LogState, Plan, Trim, ViewChange, snapshot_text
from gemini_companion.engine.facts.neutralise import SECTIONS
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT
from gemini_companion.engine.history.verdict import StrategyName

FACTS_BUDGET_SHARE: Final = 5
"""A snapshot written from the facts may have a fifth of the tokens that it hides,"""

WINDOW_SHARE: Final = 10
"""and at most a tenth of the window."""

LEAST_TOKENS: Final = 400

_NONE: Final = "none"


class Cutting(NamedTuple):
    """Where to cut a view. Indexes into it, none inside of a block."""

    split_at: int
    """The first content behind the span."""
    kept: tuple[int, ...] = ()
    """Contents of the span that stay, rising. Calls stay with their results, and what the model said with the prompt
    before it.
    """
    start_at: int = 0
    """The first content of the span."""


class CuttingStrategy:
    """A strategy that chooses where to cut and what to keep; the rest is alike for all. See `types.Strategy`."""

    name: StrategyName = "split"

    def choose(self, layout: Layout) -> Cutting | None:
        """Where to cut a view that is not empty, when nobody named the turns; `None` if nothing can be gained."""
        raise NotImplementedError

    def keep(self, layout: Layout, cutting: Cutting) -> tuple[int, ...]:
        """What of the span stays, when a person named the turns."""
        return ()

    def plan(self, trim: Trim, log: LogState) -> Plan | None:
        """Decide what to hide and what to keep; `None` if nothing can be gained."""
        if not trim.items:
            return None
        layout = Layout(trim, log)
        cutting = self.choose(layout) if log.reach is None else reached(layout, *log.reach)
        if cutting is not None and log.reach is not None:
            cutting = cutting._replace(kept=self.keep(layout, cutting))
        return None if cutting is None else make_plan(trim, layout, cutting)

    def finish(self, plan: Plan, written: str) -> str:
        """The snapshot as it was written."""
        return written

    def conclude(self, plan: Plan, snapshot: str) -> ViewChange:
        """The snapshot as a user content, and the model's acknowledgement where what follows may follow one."""
        stays = {item.seq for item in plan.stays}
        acknowledgement = (model_text(ACKNOWLEDGEMENT),) if plan.acknowledge else ()
        return ViewChange(
            hides=plan.hides,
            keeps=tuple(dict.fromkeys(item.seq for item in plan.kept)),
            replacement=(user_text(snapshot), *acknowledgement),
            covers=plan.covers,
            cuts=tuple(cut for cut in plan.trim.cuts if cut.seq in stays),
        )


def reached(layout: Layout, first: int, last: int) -> Cutting | None:
    """The cut that hides the contents from `first` to `last`, sequence numbers where turns begin and end.

    `None` if none of them is in the view, or if it would cut into a block, or a call from its result.
    """
    items, starts = layout.items, layout.block_starts
    inside = [index for index, item in enumerate(items) if first <= item.seq <= last]
    if not inside:
        return None
    start, split = inside[0], inside[-1] + 1
    if first == FIRST_SEQ:
        start = 0
    while split < len(items) and starts[split] != split:  # a kept content of a block that reaches further
        split += 1
    if starts[start] != start or not layout.is_clean(start) or not layout.is_clean(split):
        return None
    return Cutting(split, start_at=start)


def make_plan(trim: Trim, layout: Layout, cutting: Cutting) -> Plan | None:
    """The plan that a cut leads to; `None` if it would hide nothing that anybody said, or what may not be hidden."""
    log, (split_at, kept_at, start_at) = layout.log, cutting
    stays = frozenset(kept_at)
    replaced = [index for index in layout.replacements if start_at <= index < split_at and index not in stays]
    gone = stays.union(replaced)

    def fresh(items: Sequence[Item]) -> list[Item]:
        span = items[start_at:split_at]
        return [item for index, item in enumerate(span, start_at) if index not in gone] if gone else list(span)

    hidden = fresh(trim.items)
    if not any(item.kind != "ide" for item in hidden):
        return None
    first = FIRST_SEQ if start_at == 0 else layout.first_seq(start_at)
    last = _last_seq(layout, split_at)
    if log.reach is not None and split_at == len(trim.items):
        last = max(last, log.reach[1])
    if log.excluded_from is not None:
        before = (index for index in range(start_at, split_at) if index not in stays)
        if any(trim.items[index].seq >= log.excluded_from for index in before):
            return None
        last = min(last, log.excluded_from - 1)
    replacements = [trim.items[index] for index in replaced]
    snapshots = [snapshot_text(item.content) for item in replacements if item.kind == "snapshot"]
    covered = _covered({item.compression_id for item in replacements}, (first, last), log.in_force, trim)
    budget = min(sum(item.measure.tokens for item in hidden) // FACTS_BUDGET_SHARE, log.limit // WINDOW_SHARE)
    return Plan(
        trim=trim,
        start_at=start_at,
        split_at=split_at,
        kept=[trim.cut_items[index] for index in kept_at],
        hidden=hidden,
        hidden_cut=fresh(trim.cut_items),
        previous_snapshot=joined_snapshots(snapshots),
        covers=tuple(compression.compression_id for compression in covered),
        snapshot_tokens=max(LEAST_TOKENS, budget),
        # All that curation dropped before the tail goes too: left over, an invalid answer would spoil the run of
        # the acknowledgement.
        hides=(first, last),
        acknowledge=split_at == len(trim.items) or trim.items[split_at].content.role == "user",
        base_version=log.version,
    )


def joined_snapshots(snapshots: Sequence[str]) -> str | None:
    """Several snapshots of one view as one, section by section, the older one's lines first; `None` for none."""
    if len(snapshots) < 2:
        return snapshots[0] if snapshots else None
    read = [sections_of(snapshot) for snapshot in snapshots]
    lines: list[str] = []
    for name in SECTIONS:
        texts = (sections.get(name, "").strip("\n") for sections in read)
        said = [text for text in texts if text.strip().strip(".").lower() not in ("", _NONE)]
        lines += [f"<{name}>", "\n".join(said) or _NONE, f"</{name}>"]
    return "\n".join(("<state_snapshot>", *lines, "</state_snapshot>"))


def _last_seq(layout: Layout, split_at: int) -> int:
    """The last sequence number of the span: right before what follows, or of everything there is."""
    items = layout.items
    if split_at < len(items):
        return layout.first_seq(split_at) - 1
    newest = max(item.seq for item in items)
    spans = standing_spans(layout.log.in_force)
    found = bisect_right([first for first, _ in spans], newest) - 1
    return max(newest, spans[found][1]) if found >= 0 else newest


def _covered(
    replacements: set[str | None], hides: tuple[int, int], in_force: Sequence[CompressionEntry], trim: Trim
) -> list[CompressionEntry]:
    """The compressions in force that the new one stands on.

    It hides their snapshot or a cut of theirs, or cuts one of their outputs again.
    """
    recut = {(cut.seq, cut.part) for cut in trim.cuts}
    first, last = hides

    def is_touched(compression: CompressionEntry) -> bool:
        if compression.compression_id in replacements:
            return True
        span = compression.hides
        if span is not None and not (first <= span[0] and span[1] <= last):
            return False  # covering it would show again what it hides elsewhere
        return any(first <= cut.seq <= last or (cut.seq, cut.part) in recut for cut in compression.cuts)

    covered = {compression.compression_id for compression in in_force if is_touched(compression)}
    for compression in reversed(in_force):  # what a covered one covers is covered too
        if compression.compression_id in covered:
            covered.update(compression.covers)
    return [compression for compression in in_force if compression.compression_id in covered]
