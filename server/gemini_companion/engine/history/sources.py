"""`Sources`: every content that a view may show, of which those that no view shows for now may be put away."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self, cast, overload

from gemini_companion.engine.history.block import UNITS_TO_UNPACK, Block
from gemini_companion.engine.history.covering import outermost_of
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.item import Counted, Item, ItemKind, Measure, shape_of
from gemini_companion.engine.history.log import CompressionEntry, ContentEntry


class PastItem(Item):
    """The item of an entry in a block: what it says is unpacked whenever it is asked for."""

    __slots__ = ("_index", "_part")

    def __init__(self, part: _Part, index: int) -> None:
        # All other slots stay empty, so that `__getattr__` is asked: of a long past there are very many for a moment.
        self._part, self._index = part, index

    def __getattr__(self, name: str) -> Any:
        part, index = self._part, self._index
        match name:
            case "seq":
                return part.block.seqs[part.places[index]]
            case "kind":
                return part.kinds[index]
            case "turn_id":
                return part.turns[index]
            case "measure":
                return Measure(*part.tokens[3 * index : 3 * index + 3])
            case "bare":
                return part.bare.get(index)
            case "compression_id" | "numbers" | "curated_round":
                return None
            case "_weight":
                return -1
            case "content" | "original":
                return self._entry.content
            case "entry_id":
                return self._entry.id
            case "shape":
                return shape_of(self._entry.content)
            case _:
                raise AttributeError(name)

    @property
    def _entry(self) -> ContentEntry:
        return cast("ContentEntry", self._part.block.entries[self._part.places[self._index]])

    def unpacked_item(self) -> Item:
        """The same, with all that it says in memory."""
        entry = self._entry
        item = Item(
            entry.content,
            seq=entry.seq,
            entry_id=entry.id,
            turn_id=self.turn_id,
            kind=self.kind,
            measure=self.measure,
        )
        item.bare = self.bare
        return item


class _Part(NamedTuple):
    """Items whose entries are in a block."""

    block: Block
    places: bytes
    """Their indexes in the block, rising."""
    kinds: tuple[ItemKind, ...]
    turns: tuple[str, ...]
    tokens: array[int]
    """Three for each: those of `Measure`."""
    bare: Mapping[int, Measure]
    """By their indexes here, sizes without thoughts, of those that have some."""

    def items(self, start: int = 0, end: int | None = None) -> Iterator[PastItem]:
        """From one index to another."""
        for index in range(start, len(self.places) if end is None else end):
            yield self.item(index)

    def item(self, index: int) -> PastItem:
        """One of them."""
        return PastItem(self, index)


class _State(NamedTuple):
    """What there is at a moment: whoever reads in another thread goes on with that."""

    past: tuple[_Part, ...]
    starts: tuple[int, ...]
    """By part, how many items come before it."""
    gone: int
    """Items in the past."""
    to: int
    """The last sequence number of the past, 0 for none."""
    live: list[Item]
    """Those behind the past; in front of them, those of the past that views show."""
    shown: int
    """How many of `live` the past has, too."""


_NOTHING_GONE = (), (), 0, 0


class Sources(Fold, Sequence[Item]):
    """In the order of the log. Grows at its end."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._state = _State(*_NOTHING_GONE, list(items), 0)

    def copied(self) -> Self:
        """One that goes on by itself; items and blocks are shared."""
        made = type(self)()
        made._state = self._state._replace(live=self._state.live.copy())
        return made

    @property
    def live(self) -> list[Item]:
        """Those that are in memory. Must not be changed."""
        return self._state.live

    @property
    def past_to(self) -> int:
        """The last sequence number of what is put away, 0 for nothing."""
        return self._state.to

    @property
    def units(self) -> int:
        """How much work reading what all of them say is, in that on one that is at hand."""
        state = self._state
        return state.gone + len(state.live) + UNITS_TO_UNPACK * len(state.past)

    @property
    def shown(self) -> int:
        """How many of `live`, at its front, are put away as well: views show them."""
        return self._state.shown

    def shown_by(self, in_force: Mapping[str, CompressionEntry], excluded: str | None) -> list[Item]:
        """Those of which a view under these compressions and without that turn may show something, in order.

        Must not be changed.
        """
        shown = self.live if self.is_past_hidden(in_force) else list(self)
        return shown if excluded is None else [item for item in shown if item.turn_id != excluded]

    def see_to(self, in_force: Mapping[str, CompressionEntry]) -> None:
        """Have in memory what a view under these compressions may show."""
        if not self.is_past_hidden(in_force):
            self.unpack()

    def append(self, item: Item) -> None:
        """Add the next one."""
        self._state.live.append(item)

    def only(self, items: Iterable[Item]) -> None:
        """Have these and nothing else, none put away."""
        self._state = _State(*_NOTHING_GONE, list(items), 0)

    def drop(self, seqs: Collection[int]) -> None:
        """Take out those with these sequence numbers."""
        if any(map(self._has_put_away, seqs)):
            self.unpack()
        self._state = self._state._replace(live=[item for item in self._state.live if item.seq not in seqs])

    def _has_put_away(self, seq: int) -> bool:
        past = self._state.past
        number = bisect_left(past, seq, key=_last)
        if number == len(past):
            return False
        block, place = past[number].block, past[number].block.place_of(seq)
        return place < len(block) and block.seqs[place] == seq and place in past[number].places

    def put_away(
        self, blocks: Sequence[Block], shown: Collection[int], counted: Callable[[Item], Counted]
    ) -> list[Item]:
        """Keep those of these blocks in them alone, but for those with the sequence numbers `shown`. Gives those that
        are gone.
        """
        state = self._state
        past, starts, gone, at = [*state.past], [*state.starts], state.gone, state.shown
        front = [item for item in state.live[:at] if item.seq in shown]
        left = [item for item in state.live[:at] if item.seq not in shown]
        for block in blocks:
            end = bisect_right(state.live, block.last, lo=at, key=_seq)
            if some := state.live[at:end]:
                past.append(_part(block, some, counted))
                starts.append(gone)
                gone += len(some)
                front += (item for item in some if item.seq in shown)
                left += (item for item in some if item.seq not in shown)
            at = end
        to = max(state.to, blocks[-1].last if blocks else 0)
        self._state = _State(tuple(past), tuple(starts), gone, to, [*front, *state.live[at:]], len(front))
        return left

    def unpack(self) -> None:
        """Have all in memory again."""
        self.unpacking()()

    def unpacking(self) -> Callable[[], None]:
        """What has all in memory again, made ready: it takes no time where nothing was put away meanwhile."""
        state = self._state
        kept = {item.seq: item for item in state.live[: state.shown]}
        past = chain.from_iterable(part.items() for part in state.past)
        items = [kept.get(one.seq) or one.unpacked_item() for one in past]

        def take() -> None:
            if self._state is state:
                self._state = _State(*_NOTHING_GONE, [*items, *state.live[state.shown :]], 0)
            elif self._state.past:
                self.unpack()

        return take

    def places(self) -> Iterator[tuple[int, str, ItemKind]]:
        """Sequence number, turn and kind of each; nothing is unpacked for it."""
        state = self._state
        for part in state.past:
            for place, turn_id, kind in zip(part.places, part.turns, part.kinds, strict=True):
                yield part.block.seqs[place], turn_id, kind
        for item in state.live[state.shown :] if state.shown else state.live:
            yield item.seq, item.turn_id, item.kind

    def is_past_hidden(self, in_force: Mapping[str, CompressionEntry]) -> bool:
        """Whether compressions in force show nothing of what is put away but what `live` has as well."""
        if not (state := self._state).past:
            return True
        first, shown = state.past[0].block.seqs[state.past[0].places[0]], {one.seq for one in state.live[: state.shown]}
        return any(
            one.hides is not None
            and one.hides[0] <= first
            and one.hides[1] >= state.to
            and all(seq in shown for seq in one.keeps if first <= seq <= state.to and self._has_put_away(seq))
            for one in outermost_of(in_force)
        )

    def __len__(self) -> int:
        state = self._state
        return state.gone + len(state.live) - state.shown

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        state = self._state
        size = state.gone + len(state.live) - state.shown
        if isinstance(index, slice):
            start, stop, step = index.indices(size)
            if start >= state.gone and step > 0:
                behind = state.gone - state.shown
                return state.live[start - behind : max(0, stop - behind) : step]
            return [_one(state, at) for at in range(start, stop, step)]
        at = index + size if index < 0 else index
        if not 0 <= at < size:
            raise IndexError("list index out of range")
        return _one(state, at)

    def __iter__(self) -> Iterator[Item]:
        state = self._state
        if not state.past:
            return iter(state.live)
        behind = state.live[state.shown :] if state.shown else state.live
        return chain(chain.from_iterable(part.items() for part in state.past), behind)


def _part(block: Block, items: Sequence[Item], counted: Callable[[Item], Counted]) -> _Part:
    sizes = list(map(counted, items))
    return _Part(
        block,
        bytes(block.place_of(item.seq) for item in items),
        tuple(item.kind for item in items),
        tuple(item.turn_id for item in items),
        array("q", chain.from_iterable(size.whole for size in sizes)),
        {index: size.bare for index, size in enumerate(sizes) if size.bare is not None},
    )


def _one(state: _State, index: int) -> Item:
    if index >= state.gone:
        return state.live[index - state.gone + state.shown]
    number = bisect_right(state.starts, index) - 1
    return state.past[number].item(index - state.starts[number])


def within(sources: Sequence[Item], first: int, last: int) -> list[Item]:
    """The items from `first` to `last`, sequence numbers, both inclusive."""
    return list(sources[bisect_left(sources, first, key=_seq) : bisect_right(sources, last, key=_seq)])


def _last(part: _Part) -> int:
    return part.block.last


def _seq(item: Item) -> int:
    return item.seq
