"""The strategy in use: the older part of the history becomes a snapshot, the newest 30 % stays word for word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.compression.split import SPLIT_FRACTION, split_by_weight, split_inside_run
from gemini_companion.engine.compression.types import FIRST_SEQ, LogState, Plan, Trim, ViewChange, snapshot_text
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item, Shape
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.part import has_call, is_truthy
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT
from gemini_companion.engine.history.verdict import StrategyName

TOO_LITTLE: Final = 1 / 3
"""An agent's run is split inside if no plain user content lies far enough, and less than this share of the weight would
be hidden: so small a gain is used up after a few rounds.
"""


class SplitStrategy:
    """See `types.Strategy`."""

    name: StrategyName = "split"

    def plan(self, trim: Trim, log: LogState) -> Plan | None:
        """Decide where to split, and what follows from it; `None` when nothing stands before the split."""
        if not trim.items:
            return None
        split_at, kept_at = _split(trim.cut_items)
        before = [index for index in range(split_at) if index != kept_at]
        fresh = [index for index in before if trim.items[index].kind not in REPLACEMENT_KINDS]
        if not any(trim.items[index].kind != "ide" for index in fresh):
            return None
        replacements = [trim.items[index] for index in before if trim.items[index].kind in REPLACEMENT_KINDS]
        snapshots = [snapshot_text(item.content) for item in replacements if item.kind == "snapshot"]
        last = trim.items[split_at].seq - 1 if split_at < len(trim.items) else max(item.seq for item in trim.items)
        if log.excluded_from is not None:
            if any(trim.items[index].seq >= log.excluded_from for index in before):
                return None
            last = min(last, log.excluded_from - 1)
        covered = _covered({item.compression_id for item in replacements}, last, log.in_force, trim)
        return Plan(
            trim=trim,
            split_at=split_at,
            kept_prompt=None if kept_at is None else trim.items[kept_at],
            hidden=[trim.items[index] for index in fresh],
            hidden_cut=[trim.cut_items[index] for index in fresh],
            previous_snapshot=snapshots[-1] if snapshots else None,
            covers=tuple(compression.compression_id for compression in covered),
            # All that curation dropped before the tail goes too: left over, an invalid answer would spoil the run of
            # the acknowledgement.
            hides=(FIRST_SEQ, last),
            acknowledge=split_at == len(trim.items) or trim.items[split_at].content.role == "user",
            base_version=log.version,
        )

    def conclude(self, plan: Plan, snapshot: str) -> ViewChange:
        """The snapshot as a user content, and the model's acknowledgement where the tail may follow one."""
        tail_seqs = {item.seq for item in plan.tail}
        acknowledgement = (model_text(ACKNOWLEDGEMENT),) if plan.acknowledge else ()
        return ViewChange(
            hides=plan.hides,
            keeps=(plan.kept_prompt.seq,) if plan.kept_prompt else (),
            replacement=(user_text(snapshot), *acknowledgement),
            covers=plan.covers,
            cuts=tuple(cut for cut in plan.trim.cuts if cut.seq in tail_seqs),
        )


def _covered(
    replacements: set[str | None], last: int, in_force: Sequence[CompressionEntry], trim: Trim
) -> list[CompressionEntry]:
    """The compressions in force that the new one stands on.

    It hides their snapshot or a cut of theirs, or cuts one of their outputs again.
    """
    recut = {(cut.seq, cut.part) for cut in trim.cuts}

    def is_touched(compression: CompressionEntry) -> bool:
        return compression.compression_id in replacements or any(
            cut.seq <= last or (cut.seq, cut.part) in recut for cut in compression.cuts
        )

    covered = {compression.compression_id for compression in in_force if is_touched(compression)}
    for compression in reversed(in_force):  # what a covered one covers is covered too
        if compression.compression_id in covered:
            covered.update(compression.covers)
    return [compression for compression in in_force if compression.compression_id in covered]


def _split(items: Sequence[Item]) -> tuple[int, int | None]:
    """The index of the first content kept, and that of the prompt that is kept although it stands before it, if any."""
    weights = [item.weight for item in items]
    candidates = _candidates(items)
    last = items[-1]
    closed = last.content.role == "model" and not has_call(last.content)
    split_at = split_by_weight(weights, candidates, SPLIT_FRACTION, ends_closed=closed)
    while 0 < split_at < len(items) and items[split_at - 1].kind == "ide":
        split_at -= 1  # the editor's state belongs to the prompt after it
    total = sum(weights)
    gained = sum(weights[index] for index in range(split_at) if items[index].kind not in REPLACEMENT_KINDS)
    if gained and (
        split_at == len(items) or sum(weights[:split_at]) >= total * SPLIT_FRACTION or gained >= total * TOO_LITTLE
    ):
        return split_at, None
    prompt_at = next((index for index in reversed(candidates) if items[index].kind == "prompt"), None)
    inside = _split_run(items, weights, -1 if prompt_at is None else prompt_at)
    return (inside, prompt_at) if inside > split_at else (split_at, None)


def _candidates(items: Sequence[Item]) -> list[int]:
    """Where a split may fall: plain user contents that people wrote, unless results of the calls before them follow."""
    candidates: list[int] = []
    results_follow = False
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        if item.content.role == "model":
            results_follow = False
        elif item.shape is Shape.RESULTS:
            results_follow = True
        elif not results_follow and item.kind not in REPLACEMENT_KINDS and item.kind != "ide":
            candidates.append(index)
    return candidates[::-1]


def _split_run(items: Sequence[Item], weights: Sequence[int], prompt_at: int) -> int:
    """Where to split inside the run of tool rounds after the prompt, or 0; a content of the run must lie before it."""
    own_contents = (
        index
        for index in range(prompt_at + 1, len(items))
        if items[index].kind not in REPLACEMENT_KINDS and items[index].kind != "ide"
    )
    first = next(own_contents, len(items))
    starts = [
        index
        for index, item in enumerate(items)
        if item.content.role == "model"
        and item.kind not in REPLACEMENT_KINDS
        and (index == 0 or items[index - 1].content.role == "user")
    ]
    answered = [_answered_after(items, index) for index in starts]
    return split_inside_run(weights, starts, SPLIT_FRACTION, answered_from=answered, first=first)


def _answered_after(items: Sequence[Item], start: int) -> bool:
    """True if the calls of the model's run at `start` all have results after it.

    Only the last round can lack some: curation has filled the others.
    """
    run_end = start
    calls = 0
    while run_end < len(items) and items[run_end].content.role == "model":
        calls += sum(1 for part in items[run_end].content.parts if is_truthy(part.get("functionCall")))
        run_end += 1
    results = 0
    while run_end < len(items) and items[run_end].content.role == "user":
        results += sum(1 for part in items[run_end].content.parts if is_truthy(part.get("functionResponse")))
        run_end += 1
    return results >= calls
