"""`History`: the pure fold of a log into the view that the model gets.

The view is a function of the entries alone: folding a log at once, or entry by entry as it grows, gives the same. Appending a content costs
the same at any length; only what changes the view otherwise (a compaction, an undo, a resumption, a pin beside a snapshot) rebuilds it and
raises the *epoch*.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.curation import curate, curate_round, round_end
from gemini_companion.engine.history.item import STANDING_IN, Item, ItemKind, MeasureContent, Shape
from gemini_companion.engine.history.log import (
    CompactionEntry,
    Entry,
    IdeContextEntry,
    PinEntry,
    PreviewEntry,
    PromptEntry,
    ReplyEntry,
    ResumeEntry,
    ToolResultEntry,
    TurnEndEntry,
    UndoEntry,
    UnpinEntry,
)
from gemini_companion.engine.history.part import has_call

PINS_INTRODUCTION: Final = "The user pinned these texts. They hold word for word:"


class Totals(NamedTuple):
    """Estimated tokens of the curated view, by part."""

    ide_context: int = 0
    snapshot: int = 0
    messages: int = 0
    tool_outputs: int = 0

    @property
    def all(self) -> int:
        """The sum."""
        return sum(self)


class History:
    """One session's log and its view. Feed it with `apply`, in order; it does no I/O and never rewrites an entry."""

    def __init__(self, measure: MeasureContent, entries: Iterable[Entry] = ()) -> None:
        self.measure = measure
        self.entries: list[Entry] = []
        self.epoch = 1
        self.in_force: dict[str, CompactionEntry] = {}
        """Compactions that are not undone, oldest first; some may be covered by later ones."""
        self.compactions: dict[str, CompactionEntry] = {}
        """Every compaction ever installed, oldest first."""
        self.preview: PreviewEntry | None = None
        """The newest preview that is neither applied nor superseded."""
        self.pins: dict[str, PinEntry] = {}
        self._told: list[IdeContextEntry] = []
        """The IDE entries of this epoch."""
        self._prompts: list[PromptEntry] = []
        self._aside: str | None = None
        """The turn that is set aside."""
        self._sources: list[Item] = []
        self._items: list[Item] = []
        self._settled: list[Item] = []
        self._settled_to = 0
        self._settled_totals = Totals()
        for entry in entries:
            self.apply(entry)

    @property
    def version(self) -> int:
        """Sequence number of the newest entry, 0 for an empty log."""
        return self.entries[-1].seq if self.entries else 0

    @property
    def items(self) -> Sequence[Item]:
        """The view, not curated: every content with its way back to the log. Not to be changed."""
        return self._items

    @property
    def ide_entries(self) -> list[IdeContextEntry]:
        """The IDE entries that stand in the view, in order."""
        return [entry for entry in self._told if entry.turn_id != self._aside] if self._aside is not None else self._told

    @property
    def sources(self) -> Sequence[Item]:
        """Every content that a view may show, whatever is hidden now. Not to be changed."""
        return self._sources

    def apply(self, entry: Entry) -> None:
        """Take in the next entry. Raises `ValueError` if its `seq` does not rise."""
        if entry.seq <= self.version:
            raise ValueError(f"entry {entry.id} has seq {entry.seq}, but the log is at {self.version}")
        self.entries.append(entry)
        match entry:
            case PromptEntry():
                self._prompts.append(entry)
                self._append(entry, "prompt")
            case ReplyEntry():
                self._append(entry, "reply")
            case ToolResultEntry():
                self._append(entry, "toolResult")
            case IdeContextEntry():
                if entry.epoch == self.epoch:
                    self._told.append(entry)
                    self._append(entry, "ide")
            case TurnEndEntry(outcome="replaced"):
                self._drop_replaced(entry.turn_id)
            case TurnEndEntry():
                if entry.outcome != "completed":
                    self._drop_turn(entry.turn_id, entry.kept_to)
            case CompactionEntry():
                self.compactions[entry.compaction_id] = entry
                self.in_force[entry.compaction_id] = entry
                if self.preview is not None and self.preview.compaction_id == entry.compaction_id:
                    self.preview = None
                self._change_view()
            case UndoEntry():
                for compaction_id in entry.undone:
                    self.in_force.pop(compaction_id, None)
                self._change_view()
            case PreviewEntry():
                self.preview = entry
            case ResumeEntry():
                self._change_view()
            case PinEntry():
                self.pins[entry.pin_id] = entry
                self._change_pins()
            case UnpinEntry():
                if self.pins.pop(entry.pin_id, None) is not None:
                    self._change_pins()
            case _:
                pass

    @property
    def newest_turn(self) -> str | None:
        """The turn that the newest content of a view belongs to, whatever is hidden now; `None` before the first."""
        return next((item.turn_id for item in reversed(self._sources) if item.kind != "ide"), None)

    def is_hidden(self, turn_id: str) -> bool:
        """True if a compaction in force hides something of the turn."""
        seqs = [item.seq for item in self._sources if item.turn_id == turn_id and item.kind != "ide"]
        hiding = [(*compaction.hides, compaction.keeps) for compaction in self.in_force.values() if compaction.hides is not None]
        return any(first <= seq <= last and seq not in keeps for seq in seqs for first, last, keeps in hiding)

    def set_aside(self, turn_id: str) -> None:
        """Leave a turn out of the view for now: what builds on the view is to replace it. `bring_back` ends that.

        The log knows nothing of it, so the epoch stays: if the turn comes back, everything is as it was.
        """
        self._aside = turn_id
        self._rebuild()

    def bring_back(self) -> None:
        """End what `set_aside` began."""
        if self._aside is not None:
            self._aside = None
            self._rebuild()

    @property
    def aside_from(self) -> int | None:
        """The first sequence number of what is set aside, `None` if nothing is."""
        if self._aside is None:
            return None
        return next((item.seq for item in self._sources if item.turn_id == self._aside), None)

    def curated(self, *, close: bool = False) -> list[Item]:
        """What may be sent: see `curation`. `close` fills the results that the last round still waits for."""
        self._settle()
        open_round = self._items[self._settled_to :]
        return self._settled + (curate_round(open_round, self.measure, close=close) if open_round else [])

    def contents(self) -> list[Content]:
        """The contents of the curated view, neighbours of one role not merged."""
        return [item.content for item in self.curated()]

    def totals(self) -> Totals:
        """Estimated tokens of the curated view. Costs as much as the last round is long."""
        self._settle()
        open_round = self._items[self._settled_to :]
        return add_totals(self._settled_totals, curate_round(open_round, self.measure, close=False) if open_round else [])

    def has_open_call(self) -> bool:
        """True while the last answer calls functions whose results are not all there."""
        open_round = self._items[self._open_start() :]
        if not any(item.content.role == "model" and has_call(item.content) for item in open_round):
            return False
        return any(item.kind == "filled" for item in curate_round(open_round, self.measure, close=True))

    def view_with(self, candidate: CompactionEntry) -> list[Item]:
        """The curated view as it would be if `candidate` were installed now, IDE entries gone."""
        in_force = {**self.in_force, candidate.compaction_id: candidate}
        return curate(_compose(self._without_ide(), in_force, self.pins, self.measure), self.measure, close=False)

    def view_without(self, undone: Iterable[str]) -> list[Item]:
        """The curated view as it would be if these compactions were undone now, IDE entries gone."""
        gone = set(undone)
        in_force = {key: value for key, value in self.in_force.items() if key not in gone}
        return curate(_compose(self._without_ide(), in_force, self.pins, self.measure), self.measure, close=False)

    def provenance(self, item: Item) -> tuple[str, ...]:
        """Ids of the log entries that an item of the view stands for: its own, or all those that a snapshot hides."""
        compaction = self.in_force.get(item.compaction_id or "")
        if item.kind == "pin":
            return tuple(pin.id for pin in self.pins.values())
        if compaction is None or compaction.hides is None or item.kind not in STANDING_IN:
            return (item.entry_id,)
        return tuple(hidden.entry_id for hidden in _span(self._sources, *compaction.hides) if hidden.seq not in compaction.keeps)

    @property
    def previous_client(self) -> str | None:
        """The client of the newest prompt in the log that stayed, `None` before the first."""
        return next((prompt.client for prompt in reversed(self._prompts) if prompt.turn_id != self._aside), None)

    def _shown(self) -> list[Item]:
        return [item for item in self._sources if item.turn_id != self._aside] if self._aside is not None else self._sources

    def _without_ide(self) -> list[Item]:
        shown = self._shown()
        return [item for item in shown if item.kind != "ide"] if self._told else shown

    def _append(self, entry: PromptEntry | ReplyEntry | ToolResultEntry | IdeContextEntry, kind: ItemKind) -> None:
        item = Item(entry.content, seq=entry.seq, entry_id=entry.id, turn_id=entry.turn_id, kind=kind, measure=self.measure(entry.content))
        self._sources.append(item)
        self._items.append(item)

    def _drop_turn(self, turn_id: str, kept_to: int) -> None:
        """The contents of an unfinished turn leave: they stand at the end, and no request will build on them."""

        def stays(item: Item) -> bool:
            return item.turn_id != turn_id or item.seq <= kept_to

        dropped = [item for item in _tail_of_turn(self._sources, turn_id) if not stays(item)]
        if not dropped:
            return
        gone = {item.seq for item in dropped}
        self._told = [entry for entry in self._told if entry.seq not in gone]
        self._prompts = [entry for entry in self._prompts if entry.seq not in gone]
        first = dropped[0].seq
        self._sources[:] = [*_before(self._sources, first), *(item for item in _from(self._sources, first) if stays(item))]
        self._items[:] = [item for item in self._items if item.kind in STANDING_IN or stays(item)]
        self._unsettle()

    def _drop_replaced(self, turn_id: str) -> None:
        """A whole turn leaves, with others behind it that were built without it."""
        self._aside = None if self._aside == turn_id else self._aside
        self._sources = [item for item in self._sources if item.turn_id != turn_id]
        self._prompts = [entry for entry in self._prompts if entry.turn_id != turn_id]
        self._change_view()

    def _change_view(self) -> None:
        self.epoch += 1
        if self._told:
            self._sources, self._told = [item for item in self._sources if item.kind != "ide"], []
        self._rebuild()

    def _rebuild(self) -> None:
        self._items = _compose(self._shown(), self.in_force, self.pins, self.measure)
        self._unsettle()

    def _change_pins(self) -> None:
        if any(compaction.hides for compaction in self.in_force.values()):
            self._change_view()

    def _unsettle(self) -> None:
        self._settled, self._settled_to, self._settled_totals = [], 0, Totals()

    def _open_start(self) -> int:
        self._settle()
        return self._settled_to

    def _settle(self) -> None:
        """Curate, once, the rounds that nothing appended can change any more: all but the last."""
        start = self._settled_to
        fresh: list[Item] = []
        while (end := round_end(self._items, start)) < len(self._items):
            fresh.extend(curate_round(self._items[start:end], self.measure, close=True))
            start = end
        if fresh or start != self._settled_to:
            self._settled.extend(fresh)
            self._settled_totals = add_totals(self._settled_totals, fresh)
            self._settled_to = start


def _compose(sources: Sequence[Item], in_force: dict[str, CompactionEntry], pins: dict[str, PinEntry], measure: MeasureContent) -> list[Item]:
    covered = {covered_id for compaction in in_force.values() for covered_id in compaction.covers}
    hiding = [c for c in in_force.values() if c.hides is not None and c.compaction_id not in covered]
    items = list(sources)
    for compaction in hiding:
        if compaction.hides is not None:
            low, high = _bounds(items, *compaction.hides)
            kept = [item for item in items[low:high] if item.seq in compaction.keeps and item.kind not in STANDING_IN] if compaction.keeps else []
            items[low:high] = [*kept, *_stand_in(compaction, pins, measure)]
    outputs: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for compaction in in_force.values():  # of an output that was cut twice the newer cut holds
        for cut in compaction.cuts:
            outputs[cut.seq][cut.part] = cut.output
    if not outputs:
        return items
    return [item.with_outputs(outputs[item.seq], measure) if item.seq in outputs and item.shape is Shape.RESULTS else item for item in items]


def _stand_in(compaction: CompactionEntry, pins: dict[str, PinEntry], measure: MeasureContent) -> list[Item]:
    def item(content: Content, kind: ItemKind) -> Item:
        seq = compaction.hides[0] if compaction.hides else compaction.seq
        return Item(content, seq=seq, entry_id=compaction.id, kind=kind, measure=measure(content), compaction_id=compaction.compaction_id)

    kinds: list[ItemKind] = ["snapshot" if index == compaction.snapshot_at else "acknowledgement" for index in range(len(compaction.replacement))]
    items = [item(content, kind) for content, kind in zip(compaction.replacement, kinds, strict=True)]
    if pins:
        items.insert(compaction.snapshot_at + 1, item(pins_content(pins.values()), "pin"))
    return items


def pins_content(pins: Iterable[PinEntry]) -> Content:
    """The user content in which pinned texts stand, each in a part of its own, word for word."""
    intro = user_text(PINS_INTRODUCTION)
    return Content(role="user", parts=(*intro.parts, *({"text": pin.text} for pin in pins)))


def _bounds(items: Sequence[Item], first: int, last: int) -> tuple[int, int]:
    return bisect_left(items, first, key=_seq), bisect_right(items, last, key=_seq)


def _span(items: Sequence[Item], first: int, last: int) -> Sequence[Item]:
    low, high = _bounds(items, first, last)
    return items[low:high]


def _before(items: Sequence[Item], seq: int) -> Sequence[Item]:
    return items[: bisect_left(items, seq, key=_seq)]


def _from(items: Sequence[Item], seq: int) -> Sequence[Item]:
    return items[bisect_left(items, seq, key=_seq) :]


def _tail_of_turn(items: Sequence[Item], turn_id: str) -> list[Item]:
    tail: list[Item] = []
    for item in reversed(items):
        if item.turn_id != turn_id:
            break
        tail.append(item)
    return tail[::-1]


def _seq(item: Item) -> int:
    return item.seq


def add_totals(totals: Totals, items: Iterable[Item]) -> Totals:
    """`totals` plus the tokens of `items`."""
    ide, snapshot, messages, tools = totals
    for item in items:
        tokens, tool_tokens = item.measure
        if item.kind == "ide":
            ide += tokens
        elif item.kind in STANDING_IN:
            snapshot += tokens
        else:
            messages += tokens - tool_tokens
            tools += tool_tokens
    return Totals(ide, snapshot, messages, tools)
