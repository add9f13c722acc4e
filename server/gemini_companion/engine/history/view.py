"""`History`: the pure fold of a log into the view that the model gets.

The view is a function of the entries alone: folding a log at once, or entry by entry as it grows, gives the same.
Appending a content costs the same at any length; only what changes the view otherwise (a compression, an undo, a
resumption, a pinned text) rebuilds it and raises the *epoch*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gemini_companion.engine.history.compose import (
    before_seq,
    compose,
    from_seq,
    span,
    tail_of_turn,
)
from gemini_companion.engine.history.constraint import Constraint, ConstraintLedger
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.curation import curate, curate_round, round_end
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item, ItemKind, MeasureContent
from gemini_companion.engine.history.log import (
    CompressionEntry,
    ConstraintEntry,
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
from gemini_companion.engine.history.pinned import PinnedTexts, prompts_in
from gemini_companion.engine.history.totals import Totals, add_totals


class History:
    """One session's log and its view. Feed it with `apply`, in order; it does no I/O and never rewrites an entry."""

    def __init__(self, measure: MeasureContent, entries: Iterable[Entry] = ()) -> None:
        self.measure = measure
        """Estimates a content's tokens."""
        self.entries: list[Entry] = []
        self.epoch = 1
        """Rises with every change of the view except appending."""
        self.in_force: dict[str, CompressionEntry] = {}
        """Compressions that are not undone, oldest first; some may be covered by later ones."""
        self.compressions: dict[str, CompressionEntry] = {}
        """Every compression ever installed, oldest first."""
        self.preview: PreviewEntry | None = None
        """The newest preview that is neither applied nor superseded."""
        self._pinned = PinnedTexts()
        self._visible_prompts: dict[str, Item] = {}
        """The prompts in the view, by turn."""
        self._ide_entries: list[IdeContextEntry] = []
        """The IDE entries of this epoch."""
        self._prompts: list[PromptEntry] = []
        self._excluded: str | None = None
        """The id of the excluded turn."""
        self._sources: list[Item] = []
        """Every content that a view may show."""
        self._items: list[Item] = []
        """The view, not curated."""
        self._settled: list[Item] = []
        """Its curated items that appending cannot change any more: all of `_items[:_settled_to]`."""
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
        """The view, not curated: every content with its origin in the log. Must not be changed."""
        return self._items

    @property
    def prompts(self) -> Sequence[PromptEntry]:
        """The prompts that were not rolled back, hidden or not, oldest first. Must not be changed."""
        return self._prompts

    @property
    def ide_entries(self) -> list[IdeContextEntry]:
        """The IDE entries that are in the view, in order."""
        return (
            [entry for entry in self._ide_entries if entry.turn_id != self._excluded]
            if self._excluded is not None
            else self._ide_entries
        )

    @property
    def sources(self) -> Sequence[Item]:
        """Every content that a view may show, hidden or not. Must not be changed."""
        return self._sources

    def apply(self, entry: Entry) -> None:
        """Append the next entry to the log and to the view. Raises `ValueError` if its `seq` does not rise."""
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
                    self._ide_entries.append(entry)
                    self._append(entry, "ide")
            case TurnEndEntry(outcome="replaced"):
                self.constraints.withdraw(entry.turn_id)
                self._drop_replaced(entry.turn_id)
            case TurnEndEntry():
                if entry.outcome != "completed":
                    self._drop_turn(entry.turn_id, entry.kept_to)
            case CompressionEntry():
                self.compressions[entry.compression_id] = entry
                self.in_force[entry.compression_id] = entry
                if self.preview is not None and self.preview.compression_id == entry.compression_id:
                    self.preview = None
                self._change_view()
            case UndoEntry():
                for compression_id in entry.undone:
                    self.in_force.pop(compression_id, None)
                self._change_view()
            case PreviewEntry():
                self.preview = entry
            case ResumeEntry():
                self._change_view()
            case PinEntry() | UnpinEntry() | ConstraintEntry():
                self._see_to_pinned(self._pinned.take_in(entry))
            case _:
                pass

    @property
    def constraints(self) -> ConstraintLedger:
        """The rules that the person set, pins among them. Changed by `apply` alone."""
        return self._pinned.constraints

    @property
    def pins(self) -> dict[str, PinEntry]:
        """The pins in force by id, oldest first."""
        return self._pinned.pins

    @property
    def standing(self) -> tuple[Constraint, ...]:
        """The constraints in force, pins among them, oldest first; without those of a turn that is being replaced."""
        return self.constraints.standing(self._excluded)

    @property
    def newest_turn(self) -> str | None:
        """Id of the turn that the newest content belongs to, hidden or not; `None` before the first."""
        return next((item.turn_id for item in reversed(self._sources) if item.kind != "ide"), None)

    def is_hidden(self, turn_id: str) -> bool:
        """True if a compression in force hides a content of the turn."""
        seqs = [item.seq for item in self._sources if item.turn_id == turn_id and item.kind != "ide"]
        hiding = [
            (*compression.hides, compression.keeps)
            for compression in self.in_force.values()
            if compression.hides is not None
        ]
        return any(first <= seq <= last and seq not in keeps for seq in seqs for first, last, keeps in hiding)

    def exclude(self, turn_id: str) -> None:
        """Leave a turn out of the view while another one that is to replace it runs; `restore` ends that.

        The log does not record it, and the epoch stays: if the turn is restored, everything is as before.
        """
        self._excluded = turn_id
        self._rebuild()

    def restore(self) -> None:
        """Bring back the turn that `exclude` left out; nothing happens if there is none."""
        if self._excluded is not None:
            self._excluded = None
            self._rebuild()

    @property
    def excluded_from(self) -> int | None:
        """The first sequence number of the excluded turn, `None` if none is excluded."""
        if self._excluded is None:
            return None
        return next((item.seq for item in self._sources if item.turn_id == self._excluded), None)

    def curated(self, *, close: bool = False) -> list[Item]:
        """The contents that may be sent: see `curation`. `close` fills in the results that the last round lacks."""
        self._settle()
        open_round = self._items[self._settled_to :]
        return self._settled + (curate_round(open_round, self.measure, close=close) if open_round else [])

    def contents(self) -> list[Content]:
        """The contents of the curated view, neighbours of one role not merged."""
        return [item.content for item in self.curated()]

    def totals(self) -> Totals:
        """Estimated tokens of the curated view. The cost grows with the length of the last round only."""
        self._settle()
        open_round = self._items[self._settled_to :]
        return add_totals(
            self._settled_totals, curate_round(open_round, self.measure, close=False) if open_round else []
        )

    def has_open_call(self) -> bool:
        """True while the last answer has function calls without results."""
        open_round = self._items[self._open_start() :]
        if not any(item.content.role == "model" and has_call(item.content) for item in open_round):
            return False
        return any(item.kind == "filled" for item in curate_round(open_round, self.measure, close=True))

    def view_with(self, candidate: CompressionEntry) -> list[Item]:
        """The curated view as it would be if `candidate` were installed now, without its IDE entries."""
        in_force = {**self.in_force, candidate.compression_id: candidate}
        return curate(self._composed(self._without_ide(), in_force)[0], self.measure, close=False)

    def view_without(self, undone: Iterable[str]) -> list[Item]:
        """The curated view as it would be if these compressions were undone now, without its IDE entries."""
        gone = set(undone)
        in_force = {key: value for key, value in self.in_force.items() if key not in gone}
        return curate(self._composed(self._without_ide(), in_force)[0], self.measure, close=False)

    def provenance(self, item: Item) -> tuple[str, ...]:
        """Ids of the log entries that an item of the view represents: its own, or all those that a snapshot hides."""
        compression = self.in_force.get(item.compression_id or "")
        if item.kind == "pin":
            return self._pinned.entry_ids()
        if compression is None or compression.hides is None or compression.from_file:
            return (item.entry_id,)
        if item.kind not in REPLACEMENT_KINDS:
            return (item.entry_id,)
        hidden = span(self._sources, *compression.hides)
        return tuple(item.entry_id for item in hidden if item.seq not in compression.keeps)

    @property
    def previous_client(self) -> str | None:
        """Id of the client of the newest prompt that was not rolled back; `None` before the first."""
        return next((prompt.client for prompt in reversed(self._prompts) if prompt.turn_id != self._excluded), None)

    def _shown(self) -> list[Item]:
        return (
            [item for item in self._sources if item.turn_id != self._excluded]
            if self._excluded is not None
            else self._sources
        )

    def _without_ide(self) -> list[Item]:
        shown = self._shown()
        return [item for item in shown if item.kind != "ide"] if self._ide_entries else shown

    def _append(self, entry: PromptEntry | ReplyEntry | ToolResultEntry | IdeContextEntry, kind: ItemKind) -> None:
        item = Item(
            entry.content,
            seq=entry.seq,
            entry_id=entry.id,
            turn_id=entry.turn_id,
            kind=kind,
            measure=self.measure(entry.content),
        )
        self._sources.append(item)
        self._items.append(item)
        if kind == "prompt":
            self._visible_prompts[item.turn_id] = item

    def _drop_turn(self, turn_id: str, kept_to: int) -> None:
        """Remove the contents of an unfinished turn: they stand at the end, and no request will build on them."""

        def stays(item: Item) -> bool:
            return item.turn_id != turn_id or item.seq <= kept_to

        dropped = [item for item in tail_of_turn(self._sources, turn_id) if not stays(item)]
        if not dropped:
            return
        gone = {item.seq for item in dropped}
        self._ide_entries = [entry for entry in self._ide_entries if entry.seq not in gone]
        self._prompts = [entry for entry in self._prompts if entry.seq not in gone]
        first = dropped[0].seq
        self._sources[:] = [
            *before_seq(self._sources, first),
            *(item for item in from_seq(self._sources, first) if stays(item)),
        ]
        self._items[:] = [item for item in self._items if item.kind in REPLACEMENT_KINDS or stays(item)]
        self._unsettle()
        if any(item.kind == "prompt" for item in dropped):
            self._visible_prompts.pop(turn_id, None)
            self._see_to_pinned(self.constraints.said_in(turn_id))

    def _drop_replaced(self, turn_id: str) -> None:
        """Remove a whole turn; turns behind it were built without it."""
        self._excluded = None if self._excluded == turn_id else self._excluded
        self._sources = [item for item in self._sources if item.turn_id != turn_id]
        self._prompts = [entry for entry in self._prompts if entry.turn_id != turn_id]
        self._change_view()

    def _change_view(self) -> None:
        self.epoch += 1
        if self._ide_entries:
            self._sources, self._ide_entries = [item for item in self._sources if item.kind != "ide"], []
        self._rebuild()

    def _rebuild(self) -> None:
        self._items, pinned = self._composed(self._shown(), self.in_force)
        self._pinned.show(self._items, pinned)
        self._visible_prompts = prompts_in(self._items)
        self._unsettle()

    def _composed(
        self, shown: Sequence[Item], in_force: dict[str, CompressionEntry]
    ) -> tuple[list[Item], list[Constraint]]:
        """The items of a view, and the constraints that stand in a content of their own in it."""
        return self._pinned.added_to(compose(shown, in_force, self.measure), self.standing, self.measure)

    def _see_to_pinned(self, changed: Iterable[str]) -> None:
        if self._pinned.are_stale(changed, lambda: self.standing, self._visible_prompts):
            self._change_view()

    def _unsettle(self) -> None:
        self._settled, self._settled_to, self._settled_totals = [], 0, Totals()

    def _open_start(self) -> int:
        self._settle()
        return self._settled_to

    def _settle(self) -> None:
        """Curate, once, the rounds that appending cannot change any more: all but the last."""
        start = self._settled_to
        fresh: list[Item] = []
        while (end := round_end(self._items, start)) < len(self._items):
            fresh.extend(curate_round(self._items[start:end], self.measure, close=True))
            start = end
        if fresh or start != self._settled_to:
            self._settled.extend(fresh)
            self._settled_totals = add_totals(self._settled_totals, fresh)
            self._settled_to = start
