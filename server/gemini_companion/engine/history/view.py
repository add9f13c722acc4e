"""`History`: the pure fold of a log into the view that the model gets.

The view is a function of the entries alone: folding a log at once, or entry by entry as it grows, gives the same.
Appending a content costs the same at any length; what changes the view otherwise rebuilds it and raises the *epoch*.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from gemini_companion.engine.history.compose import before_seq, compose, newest_results, origins, tail_of_turn
from gemini_companion.engine.history.constraint import Constraint, ConstraintLedger
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.counting import Counting, StoredCounts
from gemini_companion.engine.history.covering import InForce
from gemini_companion.engine.history.curation import curate, curate_round
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.hiding import hides_turn
from gemini_companion.engine.history.item import PROMPTS, REPLACEMENT_KINDS, Item, ItemKind, MeasureContent
from gemini_companion.engine.history.log import (
    CompressionEntry,
    ConstraintEntry,
    ContentEntry,
    DiscardEntry,
    Entry,
    IdeContextEntry,
    MaskEntry,
    PinEntry,
    PreviewEntry,
    PromptEntry,
    ReplyEntry,
    ResumeEntry,
    StatementEntry,
    SteerEntry,
    ToolResultEntry,
    TurnEndEntry,
    UndoEntry,
    UnpinEntry,
)
from gemini_companion.engine.history.masks import Masks
from gemini_companion.engine.history.pinned import PinnedTexts, prompts_in
from gemini_companion.engine.history.settled import Settled
from gemini_companion.engine.history.sharing import Shared
from gemini_companion.engine.history.sources import Sources
from gemini_companion.engine.history.totals import Totals, add_totals


class History(Fold):
    """One session's log and its view. Feed it with `apply`, in order; it does no I/O and never rewrites an entry."""

    def __init__(
        self, measure: MeasureContent, entries: Iterable[Entry] = (), *, stored: StoredCounts | None = None
    ) -> None:
        self.measure = measure
        """Estimates a content's tokens."""
        self.counting = Counting(measure, stored)
        """Which of them were measured here. Changed by `apply`."""
        self.entries = Entries[Entry]()
        """The log. Changed by `apply`, and by what puts away what no view shows (`putting_away`)."""
        self._shared = Shared()
        self.epoch = 1
        """Rises with every change of the view except appending."""
        self.in_force = InForce()
        """Compressions that are not undone, oldest first; some may be covered by later ones."""
        self.compressions: dict[str, CompressionEntry] = {}
        """All that were ever installed, oldest first."""
        self.preview: PreviewEntry | None = None
        """The newest preview of a person's that is neither applied, superseded nor discarded."""
        self.unwanted: dict[tuple[int, str], None] = {}
        """What the person said that no compression need keep: the entry that it stands in, and the statement."""
        self.unwanted_since = 0
        """Sequence number of the entry that changed that last."""
        self.masks = Masks()
        """What is shown shortened. Changed by `apply` alone."""
        self._pinned = PinnedTexts()
        self._visible_prompts: dict[str, tuple[Item, ...]] = {}
        """Those in the view, steering ones too, by turn."""
        self._ide_entries: list[IdeContextEntry] = []
        """The IDE entries of this epoch."""
        self._prompts = Entries[PromptEntry | SteerEntry]()
        self._excluded: str | None = None  # the id of the excluded turn
        self._sources = Sources()
        self._items: list[Item] = []
        """The view, not curated."""
        self.settled = Settled()
        """Its curated items that appending cannot change any more; another object once they did. Not to be changed."""
        self._last: dict[bool, tuple[int, list[Item]]] = {}
        """The last round curated, closed or not, and the length of the view then."""
        for entry in entries:
            self.apply(entry)

    @property
    def version(self) -> int:
        """Sequence number of the newest entry, 0 for an empty log."""
        live = self.entries.live
        return live[-1].seq if live else self.entries[-1].seq if self.entries else 0

    @property
    def items(self) -> Sequence[Item]:
        """The view, not curated: every content with its origin in the log. Must not be changed."""
        return self._items

    @property
    def prompts(self) -> Entries[PromptEntry | SteerEntry]:
        """The prompts, steering ones too, that were not rolled back, hidden or not, oldest first. Not to be changed."""
        return self._prompts

    @property
    def ide_entries(self) -> list[IdeContextEntry]:
        """The IDE entries that are in the view, in order."""
        gone = self._excluded
        return self._ide_entries if gone is None else [entry for entry in self._ide_entries if entry.turn_id != gone]

    @property
    def sources(self) -> Sources:
        """Every content that a view may show, hidden or not. Must not be changed."""
        return self._sources

    def apply(self, entry: Entry) -> None:
        """Append the next entry to the log and to the view. Raises `ValueError` if its `seq` does not rise."""
        if entry.seq <= self.version:
            raise ValueError(f"entry {entry.id} has seq {entry.seq}, but the log is at {self.version}")
        self.entries.append(self._shared.taken(entry))
        match entry:
            case PromptEntry():
                self._prompts.append(entry)
                self._append(entry, "prompt")
            case SteerEntry():
                self._prompts.append(entry)
                self._append(entry, "steer")
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
            case TurnEndEntry() if entry.outcome != "completed":
                self._drop_turn(entry.turn_id, entry.kept_to)
            case CompressionEntry(compression_id=key):
                self.compressions[key] = entry
                self.in_force.add(entry)
                if self.preview is not None and self.preview.compression_id == key:
                    self.preview = None
                self._change_view()
            case UndoEntry():
                self.in_force.remove(entry.undone)
                self._change_view()
            case PreviewEntry() if entry.compression.result.trigger != "background":
                self.preview = entry
            case DiscardEntry() if self.preview is not None and self.preview.compression_id == entry.compression_id:
                self.preview = None
            case ResumeEntry(reason="clear"):  # the log keeps it all; constraints stay in force
                self._sources.only(())
                self.in_force, self.preview = InForce(), None
                self._change_view()
            case ResumeEntry() if self._is_built_the_same():
                self.epoch += 1
            case ResumeEntry():
                self._change_view()
            case PinEntry() | UnpinEntry() | ConstraintEntry():
                self._see_to_pinned(self._pinned.take_in(entry))
            case StatementEntry():
                self.unwanted_since = entry.seq
                self.unwanted.pop((entry.at, entry.text), None)
                if not entry.is_kept:
                    self.unwanted[entry.at, entry.text] = None
            case MaskEntry():
                if self.masks.take_in(entry, newest_results(self._items)):
                    self._items, self._last = self.masks.applied(self._items, self.measure), {}
                else:
                    self._change_view()
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
    def pinnable(self) -> tuple[Constraint, ...]:
        """Those, and behind them later words that may change one of them."""
        return (*self.standing, *self.constraints.asked(self._excluded))

    @property
    def newest_turn(self) -> str | None:
        """Id of the turn that the newest content belongs to, hidden or not; `None` before the first."""
        return next((item.turn_id for item in reversed(self._sources) if item.kind != "ide"), None)

    def is_hidden(self, turn_id: str) -> bool:
        """True if a compression in force hides a content of the turn."""
        return hides_turn(self.in_force.values(), self._sources, turn_id)

    def exclude(self, turn_id: str) -> None:
        """Leave a turn out of the view, until `restore`, while one runs that is to replace it. Log and epoch stay."""
        self._excluded = turn_id
        self._rebuild()

    def restore(self) -> None:
        """Bring back the turn that `exclude` left out; nothing happens if there is none."""
        if self._excluded is not None:
            self._excluded = None
            self._rebuild()

    def go_back(self, seq: int) -> None:
        """Show nothing behind an entry of the log, where what follows only appended. Entries, epoch and counts stay."""
        self._ide_entries = [entry for entry in self._ide_entries if entry.seq <= seq]
        self._prompts.only(entry for entry in self._prompts if entry.seq <= seq)
        self._sources.unpack()
        self._sources.only(before_seq(self._sources.live, seq + 1))
        self._items = [item for item in self._items if item.seq <= seq]
        self._visible_prompts = prompts_in(self._items)
        self._unsettle()

    @property
    def excluded_from(self) -> int | None:
        """The first sequence number of the excluded turn, `None` if none is excluded."""
        live = () if self._excluded is None else self._sources.live
        return next((item.seq for item in live if item.turn_id == self._excluded), None)

    def curated(self, *, close: bool = False) -> list[Item]:
        """The contents that may be sent: see `curation`. `close` fills in the results that the last round lacks."""
        last = self._last_round(close=close)
        return self.settled.items + last

    def whole_rounds(self) -> list[Item]:
        """As `curated`, each call with its result: an answer whose calls are still being made is in no request yet."""
        if self.has_open_call() and all(item.content.role == "model" for item in self._last_round(close=False)):
            return list(self.settled.items)
        return self.curated(close=True)

    def request_contents(self, head: Content | None, more: Iterable[Content], *, close: bool) -> tuple[Content, ...]:
        """`head`, the curated view, then `more`, as the API accepts them; see `sendable`. Costs what was appended."""
        last = (item.content for item in self._last_round(close=close))
        return self.settled.request.contents(head, (*last, *more))

    def contents(self) -> list[Content]:
        """The contents of the curated view, neighbours of one role not merged."""
        return [item.content for item in self.curated()]

    def totals(self) -> Totals:
        """Estimated tokens of the curated view. The cost grows with the length of the last round only."""
        last = self._last_round(close=False)
        return add_totals(self.settled.totals, last)

    def has_open_call(self) -> bool:
        """True while the last answer has function calls without results."""
        return any(item.kind == "filled" for item in self._last_round(close=True))

    def view_with(self, candidate: CompressionEntry) -> list[Item]:
        """The curated view as it would be if `candidate` were installed now, without its IDE entries."""
        return self._view_under({**self.in_force, candidate.compression_id: candidate})

    def view_without(self, undone: Collection[str]) -> list[Item]:
        """The curated view as it would be if these compressions were undone now, without its IDE entries."""
        return self._view_under({key: self.in_force[key] for key in self.in_force if key not in undone})

    def provenance(self, item: Item) -> tuple[str, ...]:
        """Ids of the log entries that an item of the view represents: its own, or all those that a snapshot hides."""
        if item.kind == "pin":
            return self._pinned.entry_ids()
        return origins(item, self.in_force.get(item.compression_id or ""), self._sources)

    @property
    def previous_client(self) -> str | None:
        """Id of the client of the newest prompt that was not rolled back; `None` before the first."""
        prompts = (prompt for prompt in reversed(self._prompts) if isinstance(prompt, PromptEntry))
        return next((prompt.client for prompt in prompts if prompt.turn_id != self._excluded), None)

    def _view_under(self, in_force: dict[str, CompressionEntry]) -> list[Item]:
        shown = [item for item in self._sources.shown_by(in_force, self._excluded) if item.kind != "ide"]
        return curate(self._composed(shown, in_force)[0], self.measure, close=False)

    def _append(self, entry: ContentEntry, kind: ItemKind) -> None:
        item = self.counting.item_of(entry, kind)
        self._sources.append(item)
        self._items.append(item)
        if kind in PROMPTS:
            self._visible_prompts[item.turn_id] = (*self._visible_prompts.get(item.turn_id, ()), item)

    def _drop_turn(self, turn_id: str, kept_to: int) -> None:
        """Remove the contents of an unfinished turn: they stand at the end, and no request will build on them."""

        def stays(item: Item) -> bool:
            return item.turn_id != turn_id or item.seq <= kept_to

        dropped = [item for item in tail_of_turn(self._sources.live, turn_id) if not stays(item)]
        if not dropped:
            return
        gone = {item.seq for item in dropped}
        self._ide_entries = [entry for entry in self._ide_entries if entry.seq not in gone]
        self._prompts.drop(gone)
        self._sources.drop(gone)
        self._items[:] = [item for item in self._items if item.kind in REPLACEMENT_KINDS or stays(item)]
        self._unsettle()
        if any(item.kind in PROMPTS for item in dropped):
            self._visible_prompts = prompts_in(self._items)
            self._see_to_pinned(self.constraints.said_in(turn_id))

    def _drop_replaced(self, turn_id: str) -> None:
        """Remove a whole turn; turns behind it were built without it."""
        self._excluded = None if self._excluded == turn_id else self._excluded
        gone = {seq for seq, turn, _ in self._sources.places() if turn == turn_id}
        self._prompts.drop(gone)
        self._sources.drop(gone)
        self._change_view()

    def _change_view(self) -> None:
        self.epoch += 1
        if self._ide_entries:
            self._sources.drop({entry.seq for entry in self._ide_entries})
            self._ide_entries = []
        self._sources.see_to(self.in_force)
        self._rebuild()

    def _is_built_the_same(self) -> bool:
        """Whether the view, built anew from the log, would be the one that there is."""
        rules = [one.constraint_id for one in self.pinnable]
        is_stale = self._pinned.are_stale(rules, lambda: self.pinnable, self._visible_prompts)
        return not (self._ide_entries or self._excluded or is_stale)

    def _rebuild(self) -> None:
        self._items, pinned = self._composed(self._sources.shown_by(self.in_force, self._excluded), self.in_force)
        self._pinned.show(self._items, pinned)
        self._visible_prompts = prompts_in(self._items)
        self._unsettle()

    def _composed(
        self, shown: Sequence[Item], in_force: Mapping[str, CompressionEntry]
    ) -> tuple[list[Item], list[Constraint]]:
        """The items of a view, and the constraints that stand in a content of their own in it."""
        items = self.masks.applied(compose(shown, in_force, self.measure), self.measure)
        return self._pinned.added_to(items, self.pinnable, self.measure)

    def _see_to_pinned(self, changed: Iterable[str]) -> None:
        if self._pinned.are_stale(changed, lambda: self.pinnable, self._visible_prompts):
            self._change_view()

    def _unsettle(self) -> None:
        self.settled = Settled()
        self._last.clear()

    def _last_round(self, *, close: bool) -> list[Item]:
        """The last round, curated; once for each state of the view."""
        self.settle(len(self._items))
        known = self._last.get(close)
        if known is None or known[0] != len(self._items):
            items = self._items[self.settled.to :]
            curated = curate_round(items, self.measure, close=close) if items else []
            self._last[close] = known = (len(self._items), curated)
        return known[1]

    def settle(self, most: int) -> bool:
        """Curate, once, rounds that appending cannot change any more, up to so many items; True when all are done."""
        return self.settled.grow(self._items, self.measure, most)
