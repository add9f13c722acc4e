"""Planning a compression: what is hidden, what is kept, what is cut. Pure; the model is asked elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gemini_companion.engine.compression.split import SPLIT_FRACTION, split_by_weight, split_inside_run
from gemini_companion.engine.compression.truncate import OUTPUT_LIMIT_CHARACTERS, RESPONSE_BUDGET_TOKENS, PlannedCut, plan_cuts, shortened
from gemini_companion.engine.history.item import STANDING_IN, Item, MeasureContent, Shape
from gemini_companion.engine.history.log import CompactionEntry, Cut
from gemini_companion.engine.history.part import has_call, is_truthy, visible_text

TOO_LITTLE: Final = 0.05
"""When no plain user content lies far enough, and less than this share of the weight stands before the last one, an agent's run is split inside."""


FIRST_SEQ: Final = 1
"""The first sequence number of a log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trim:
    """The view with its large old tool outputs cut."""

    items: list[Item]
    """The curated view as it was."""
    cut_items: list[Item]
    """The same, outputs cut."""
    planned: list[PlannedCut]
    cuts: tuple[Cut, ...]
    """In the order of `planned`."""

    @property
    def tokens_saved(self) -> int:
        """Estimated tokens that the cuts save."""
        return sum(cut.tokens_saved for cut in self.cuts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a compression would do. Indexes count the curated view before it, neighbours not merged."""

    trim: Trim
    split_at: int
    """Index of the first content kept; `len(items)` if everything is compressed."""
    kept_prompt: Item | None
    """The prompt of an agent's run, kept beside the snapshot."""
    hidden: list[Item]
    """What is summarised, uncut, without snapshots and acknowledgements of earlier compactions."""
    hidden_cut: list[Item]
    previous_snapshot: str | None
    covers: tuple[str, ...]
    hides: tuple[int, int]
    acknowledge: bool
    """Whether the tail may follow the model's acknowledgement."""
    base_version: int

    @property
    def tail(self) -> list[Item]:
        """What stays word for word, with outputs cut."""
        return self.trim.cut_items[self.split_at :]

    @property
    def hidden_tokens(self) -> int:
        """Estimated tokens of what is hidden."""
        return sum(item.measure.tokens for item in self.hidden)


def trim_outputs(
    items: list[Item],
    *,
    measure: MeasureContent,
    count_text: Callable[[str], float],
    tag: str,
    path_of: Callable[[str], str],
    limit: int = OUTPUT_LIMIT_CHARACTERS,
    budget: int = RESPONSE_BUDGET_TOKENS,
) -> Trim:
    """Step 4: cut what is over the budget for tool outputs in a curated view. `path_of` gives the path of a private file by its name."""
    planned = plan_cuts(items, count_text=count_text, tag=tag, limit=limit, budget=budget)
    outputs: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for cut in planned:
        outputs[cut.seq][cut.part] = shortened(cut.whole, path=path_of(cut.file_name), limit=limit)
    if not planned:
        return Trim(items=items, cut_items=items, planned=[], cuts=())
    cut_items: list[Item] = []
    saved: dict[tuple[int, int], int] = {}
    for item in items:
        if item.shape is Shape.RESULTS:
            for number, output in outputs.get(item.seq, {}).items():
                shorter = item.with_outputs({number: output}, measure)
                if shorter.weight < item.weight and shorter.measure.tokens < item.measure.tokens:
                    saved[item.seq, number] = item.measure.tokens - shorter.measure.tokens
                    item = shorter
        cut_items.append(item)
    kept = [cut for cut in planned if (cut.seq, cut.part) in saved]
    cuts = tuple(
        Cut(
            seq=cut.seq,
            part=cut.part,
            output=outputs[cut.seq][cut.part],
            path=path_of(cut.file_name),
            tokens_saved=saved[cut.seq, cut.part],
        )
        for cut in kept
    )
    return Trim(items=items, cut_items=cut_items, planned=kept, cuts=cuts)


def plan_compression(trim: Trim, in_force: Sequence[CompactionEntry], version: int, aside_from: int | None = None) -> Plan | None:
    """Step 6: where to split, and what follows from it; `None` when nothing stands before the split.

    `in_force` are the compactions in force, oldest first, `version` is the log's newest sequence number when the items of `trim` were read.
    `aside_from` is where a turn begins that was set aside then: it may come back, so nothing from there on is hidden.
    """
    if not trim.items:
        return None
    split_at, kept_at = _split(trim.cut_items)
    before = [index for index in range(split_at) if index != kept_at]
    fresh = [index for index in before if trim.items[index].kind not in STANDING_IN]
    if not any(trim.items[index].kind != "ide" for index in fresh):
        return None
    standing_in = [trim.items[index] for index in before if trim.items[index].kind in STANDING_IN]
    snapshots = [visible_text(item.content) for item in standing_in if item.kind == "snapshot"]
    last = trim.items[split_at].seq - 1 if split_at < len(trim.items) else max(item.seq for item in trim.items)
    if aside_from is not None:
        if any(trim.items[index].seq >= aside_from for index in before):
            return None
        last = min(last, aside_from - 1)
    covered = _covered({item.compaction_id for item in standing_in}, last, in_force, trim)
    return Plan(
        trim=trim,
        split_at=split_at,
        kept_prompt=None if kept_at is None else trim.items[kept_at],
        hidden=[trim.items[index] for index in fresh],
        hidden_cut=[trim.cut_items[index] for index in fresh],
        previous_snapshot=snapshots[-1] if snapshots else None,
        covers=tuple(compaction.compaction_id for compaction in covered),
        # All that curation dropped before the tail goes too: left over, an invalid answer would spoil the run of the acknowledgement.
        hides=(FIRST_SEQ, last),
        acknowledge=split_at == len(trim.items) or trim.items[split_at].content.role == "user",
        base_version=version,
    )


def _covered(standing_in: set[str | None], last: int, in_force: Sequence[CompactionEntry], trim: Trim) -> list[CompactionEntry]:
    """The compactions in force that the new one stands on: their snapshot or a cut of theirs is hidden, or an output is cut again."""
    recut = {(cut.seq, cut.part) for cut in trim.cuts}

    def is_touched(compaction: CompactionEntry) -> bool:
        return compaction.compaction_id in standing_in or any(cut.seq <= last or (cut.seq, cut.part) in recut for cut in compaction.cuts)

    covered = {compaction.compaction_id for compaction in in_force if is_touched(compaction)}
    for compaction in reversed(in_force):  # what a covered one covers is covered too
        if compaction.compaction_id in covered:
            covered.update(compaction.covers)
    return [compaction for compaction in in_force if compaction.compaction_id in covered]


def _split(items: Sequence[Item]) -> tuple[int, int | None]:
    """The index of the first content kept, and that of the prompt that is kept although it stands before it."""
    weights = [item.weight for item in items]
    candidates = _candidates(items)
    last = items[-1]
    closed = last.content.role == "model" and not has_call(last.content)
    split_at = split_by_weight(weights, candidates, SPLIT_FRACTION, ends_closed=closed)
    while 0 < split_at < len(items) and items[split_at - 1].kind == "ide":
        split_at -= 1  # the editor's state belongs to the prompt after it
    total = sum(weights)
    gained = sum(weights[index] for index in range(split_at) if items[index].kind not in STANDING_IN)
    if gained and (split_at == len(items) or sum(weights[:split_at]) >= total * SPLIT_FRACTION or gained >= total * TOO_LITTLE):
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
        elif not results_follow and item.kind not in STANDING_IN and item.kind != "ide":
            candidates.append(index)
    return candidates[::-1]


def _split_run(items: Sequence[Item], weights: Sequence[int], prompt_at: int) -> int:
    """Where to split inside the run of tool rounds after the prompt, or 0: something that was said must lie between."""
    said = (index for index in range(prompt_at + 1, len(items)) if items[index].kind not in STANDING_IN and items[index].kind != "ide")
    first = next(said, len(items))
    starts = [
        index
        for index, item in enumerate(items)
        if item.content.role == "model" and item.kind not in STANDING_IN and (index == 0 or items[index - 1].content.role == "user")
    ]
    answered = [_answered_after(items, index) for index in starts]
    return split_inside_run(weights, starts, SPLIT_FRACTION, answered_from=answered, first=first)


def _answered_after(items: Sequence[Item], start: int) -> bool:
    """True if the calls of the model's run at `start` all have results after it. Curation leaves only the last round open."""
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
