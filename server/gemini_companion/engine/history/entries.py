"""`Entries`: a log, or all entries of some kind in it, of which the oldest may be put away in blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Generic, NamedTuple, Self, TypeVar, cast, overload

from gemini_companion.engine.history.block import UNITS_TO_UNPACK, Block
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import Entry, ToolResultEntry

E = TypeVar("E", bound=Entry)
K = TypeVar("K", bound=Entry)


class _Part(NamedTuple):
    """Entries in a block."""

    block: Block
    places: Sequence[int]
    """Their indexes in the block, rising."""


class _State(NamedTuple, Generic[E]):
    """What there is at a moment: whoever reads in another thread goes on with that."""

    past: tuple[_Part, ...]
    starts: tuple[int, ...]
    """By part, how many entries come before it."""
    gone: int
    """Entries in the past."""
    live: list[E]
    """Those behind them; it grows at its end."""


class Entries(Fold, Sequence[E]):
    """Grows at its end. Entries that are put away are the same as before to whoever asks, but other objects each time.

    Asking for one costs a search, and where it is put away the unpacking of its block. Made to be read beside the event
    loop: what is under way there goes on with what there was.
    """

    def __init__(self, entries: Iterable[E] = ()) -> None:
        self._state = _State[E]((), (), 0, list(entries))

    def copied(self) -> Self:
        """One that goes on by itself; entries and blocks are shared."""
        made = type(self)()
        made._state = self._state._replace(live=self._state.live.copy())
        return made

    @property
    def live(self) -> Sequence[E]:
        """Those that are not put away. Must not be changed."""
        return self._state.live

    @property
    def blocks(self) -> Iterator[Block]:
        """Where those are that are put away."""
        return (part.block for part in self._state.past)

    @property
    def gone(self) -> int:
        """How many are put away."""
        return self._state.gone

    @property
    def units(self) -> int:
        """How much work going over all is, in that on one entry that is at hand."""
        state = self._state
        return state.gone + len(state.live) + UNITS_TO_UNPACK * len(state.past)

    def units_of(self, start: int, end: int) -> int:
        """The same of those from one index to another."""
        starts, gone = self._state.starts, self._state.gone
        first, last = (bisect_right(starts, min(at, gone - 1)) for at in (start, end)) if gone else (0, 0)
        return end - start + UNITS_TO_UNPACK * (last - first + 1 if start < gone else 0)

    @property
    def past_to(self) -> int:
        """The last sequence number of the blocks with what is put away, 0 for nothing."""
        past = self._state.past
        return past[-1].block.last if past else 0

    def append(self, entry: E) -> None:
        """Add the next one."""
        self._state.live.append(entry)

    def put_away(self, blocks: Iterable[Block]) -> None:
        """Keep those that these blocks have in them alone. Must be given all blocks of the log, or at least each that
        has one of them which is not put away; what comes behind one that is in no block stays.
        """
        state, to = self._state, self.past_to
        past, starts, gone, at = [*state.past], [*state.starts], state.gone, 0
        for block in blocks:
            if block.last <= to:
                continue
            end = bisect_right(state.live, block.last, lo=at, key=_seq)
            if end > at:
                if state.live[at].seq < block.seqs[0]:
                    break
                places = [block.place_of(entry.seq) for entry in state.live[at:end]]
                is_all = len(places) == len(block)
                past.append(_Part(block, range(len(block)) if is_all else bytes(places)))
                starts.append(gone)
                gone, at = gone + end - at, end
        self._state = _State(tuple(past), tuple(starts), gone, state.live[at:])

    def drop(self, seqs: Collection[int]) -> None:
        """Take out those with these sequence numbers."""
        if any(self.at(seq) for seq in seqs if self._state.past and seq <= self._state.past[-1].block.last):
            self.only(self)
        self._state = self._state._replace(live=[entry for entry in self._state.live if entry.seq not in seqs])

    def only(self, keep: Iterable[E]) -> None:
        """Have these and nothing else, none put away."""
        self._state = _State((), (), 0, list(keep))

    def of(self, *kinds: type[K], among: Callable[[int], bool] = lambda seq: True) -> Iterator[K]:
        """Those of some kinds and, by their numbers, `among` some, in order; only blocks that have one are unpacked."""
        state = self._state
        for block, places in state.past:
            if wanted := [place for place in places if block.types[place] in kinds and among(block.seqs[place])]:
                entries = block.entries
                yield from (cast("K", entries[place]) for place in wanted)
        yield from (cast("K", entry) for entry in state.live if type(entry) in kinds and among(entry.seq))

    def results_of(self, tool: str) -> Iterator[ToolResultEntry]:
        """Those that may have a result of a tool, the newest first; no block without one is unpacked."""
        state = self._state
        yield from (one for one in reversed(state.live) if isinstance(one, ToolResultEntry))
        for block, _ in reversed(state.past):
            if tool in block.tools:
                yield from (one for one in reversed(block.entries) if isinstance(one, ToolResultEntry))

    def where(self, kind: type[Entry]) -> list[int]:
        """The indexes of those of a kind; nothing is unpacked for it."""
        past, starts, gone, live = self._state
        return [
            *(
                start + index
                for start, (block, places) in zip(starts, past, strict=True)
                for index, place in enumerate(places)
                if block.types[place] is kind
            ),
            *(index for index, entry in enumerate(live, gone) if type(entry) is kind),
        ]

    def since(self, seq: int) -> Sequence[E]:
        """Those with this sequence number or a higher one, in order."""
        return self[self.place_of(seq) :]

    def at(self, seq: int) -> E | None:
        """The one with this sequence number, if there is one."""
        place = self.place_of(seq)
        found = self[place] if place < len(self) else None
        return found if found is not None and found.seq == seq else None

    def place_of(self, seq: int) -> int:
        """Index of the first with this sequence number or a higher one; nothing is unpacked for it."""
        past, starts, gone, live = self._state
        if not past or seq > past[-1].block.last:
            return gone + bisect_left(live, seq, key=_seq)
        number = bisect_left(past, seq, key=_last)
        block, places = past[number]
        return starts[number] + bisect_left(places, block.place_of(seq))

    def __len__(self) -> int:
        state = self._state
        return state.gone + len(state.live)

    @overload
    def __getitem__(self, index: int) -> E: ...

    @overload
    def __getitem__(self, index: slice) -> list[E]: ...

    def __getitem__(self, index: int | slice) -> E | list[E]:
        state = self._state
        if isinstance(index, slice):
            start, stop, step = index.indices(state.gone + len(state.live))
            if start >= state.gone and step > 0:
                return state.live[start - state.gone : max(0, stop - state.gone) : step]
            return [_one(state, at) for at in range(start, stop, step)]
        at = index + state.gone + len(state.live) if index < 0 else index
        if at < 0:
            raise IndexError("list index out of range")
        return _one(state, at)

    def __iter__(self) -> Iterator[E]:
        state = self._state
        return chain(_past(state), state.live) if state.past else iter(state.live)

    def __reversed__(self) -> Iterator[E]:
        state = self._state
        return chain(reversed(state.live), _past_reversed(state)) if state.past else reversed(state.live)

    def __eq__(self, other: object) -> bool:
        """As lists are compared."""
        return list(self) == list(cast("Iterable[object]", other)) if isinstance(other, Entries | list) else False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # it grows


def place_of(entries: Sequence[Entry], seq: int) -> int:
    """Index of the first entry with this sequence number or a higher one."""
    return entries.place_of(seq) if isinstance(entries, Entries) else bisect_left(entries, seq, key=_seq)


def _one(state: _State[E], index: int) -> E:
    if index >= state.gone:
        return state.live[index - state.gone]
    number = bisect_right(state.starts, index) - 1
    block, places = state.past[number]
    return cast("E", block.entries[places[index - state.starts[number]]])


def _past(state: _State[E]) -> Iterator[E]:
    for block, places in state.past:
        entries = block.entries
        yield from (cast("E", entries[place]) for place in places)


def _past_reversed(state: _State[E]) -> Iterator[E]:
    for block, places in reversed(state.past):
        entries = block.entries
        yield from (cast("E", entries[place]) for place in reversed(places))


def _seq(entry: Entry) -> int:
    return entry.seq


def _last(part: _Part) -> int:
    return part.block.last
