"""`FairSlots`: at most so many holders at once; who waits is served in turn by key, what comes first before the rest.

Pure: it says who holds a slot, and calls back whoever gets one later. Waiting itself is done elsewhere.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

Rank: TypeAlias = Literal["first", "later"]
"""`first`: somebody, or something that holds a slot of another kind, waits for it. `later`: nobody does, or it may take
long.
"""

PATIENCE: Final = 4
"""So often in a row `first` goes before a `later` that waits; then that has its turn, so that it never starves."""


class Urgency:
    """Whether somebody waits for what asks for slots. It may rise while it asks, and never falls."""

    def __init__(self, rank: Rank = "first", *, is_shown: bool = False) -> None:
        """`is_shown` for a `later` of which people are told that it waits, as they are of every `first`."""
        self.rank: Rank = rank
        self._is_shown = is_shown
        self._waiting: list[Callable[[], None]] = []

    @property
    def is_shown(self) -> bool:
        """Whether people are told that it waits."""
        return self._is_shown or self.rank == "first"

    def rise(self) -> None:
        """Somebody waits for it from now on: it goes first, with what of it waits already."""
        if self.rank == "first":
            return
        self.rank = "first"
        for risen in tuple(self._waiting):
            risen()

    @contextmanager
    def heard_by(self, risen: Callable[[], None]) -> Generator[None]:
        """Call `risen` if it rises meanwhile."""
        self._waiting.append(risen)
        try:
            yield
        finally:
            self._waiting.remove(risen)


class Slot:
    """What was asked for: it is held, or waits, or is over."""

    __slots__ = ("is_held", "is_over", "key", "on_held", "rank")

    def __init__(self, key: str, rank: Rank) -> None:
        self.key = key
        self.rank: Rank = rank
        self.is_held = False
        self.is_over = False
        """It was given back, or taken back before it was held."""
        self.on_held: Callable[[], None] | None = None
        """Called once where it is held only after a wait. Must not raise, nor ask for slots."""


class FairSlots:
    """So many slots. Keys take turns, each key's own in the order in which they came.

    Of several slots one is never given to what is `later`: what comes first finds it free, however long the others are
    held.
    """

    def __init__(self, limit: int) -> None:
        """`limit` is how many may be held at once, from 1."""
        self._limit = max(1, limit)
        self._held: dict[Rank, int] = {"first": 0, "later": 0}
        self._waiting: dict[Rank, _Turns] = {"first": _Turns(), "later": _Turns()}
        self._passed = 0
        """How often in a row `first` was served while a `later` waited that could have been."""

    @property
    def limit(self) -> int:
        """How many may be held at once."""
        return self._limit

    @property
    def held(self) -> int:
        """How many are held; more than the limit only where that was lowered meanwhile."""
        return self._held["first"] + self._held["later"]

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting["first"]) + len(self._waiting["later"])

    def set_limit(self, limit: int) -> None:
        """Another limit, from 1. It counts from the next slot that is given; nobody loses one."""
        self._limit = max(1, limit)
        self._serve()

    def ask(self, key: str, rank: Rank = "first") -> Slot:
        """Ask for a slot; it is held at once if one is free and nobody is before it."""
        slot = Slot(key, rank)
        self._waiting[rank].add(slot)
        self._serve()
        return slot

    def rise(self, slot: Slot) -> None:
        """Let a slot that waits as `later` go first from now on, behind those that do; any other stays as it is."""
        if slot.is_held or slot.is_over or slot.rank == "first":
            return
        self._waiting[slot.rank].remove(slot)
        slot.rank = "first"
        self._waiting[slot.rank].add(slot)
        self._serve()

    def end(self, slot: Slot) -> None:
        """Give a slot back, or stop waiting for it. The second time nothing happens."""
        if slot.is_over:
            return
        slot.is_over = True
        if slot.is_held:
            slot.is_held = False
            self._held[slot.rank] -= 1
        else:
            self._waiting[slot.rank].remove(slot)
        self._serve()

    def _serve(self) -> None:
        while (rank := self._next_rank()) is not None:
            slot = self._waiting[rank].take()
            slot.is_held = True
            self._held[rank] += 1
            if slot.on_held is not None:
                slot.on_held()

    def _next_rank(self) -> Rank | None:
        """Whose turn it is; `None` where nobody waits who may be served."""
        if self.held >= self._limit:
            return None
        first, later = self._waiting["first"], self._waiting["later"]
        may_be_later = bool(later) and self._held["later"] < max(1, self._limit - 1)
        if may_be_later and (not first or self._passed >= PATIENCE):
            self._passed = 0
            return "later"
        if not first:
            return None
        self._passed = self._passed + 1 if may_be_later else 0
        return "first"


class _Turns:
    """Who waits, by key; the keys in the order of their next turns."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, deque[Slot]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, slot: Slot) -> None:
        self._by_key.setdefault(slot.key, deque()).append(slot)
        self._count += 1

    def take(self) -> Slot:
        """The first one of the key whose turn it is; that key is last from now on."""
        key, own = next(iter(self._by_key.items()))
        slot = own.popleft()
        self._count -= 1
        if own:
            self._by_key.move_to_end(key)
        else:
            del self._by_key[key]
        return slot

    def remove(self, slot: Slot) -> None:
        own = self._by_key[slot.key]
        own.remove(slot)
        self._count -= 1
        if not own:
            del self._by_key[slot.key]
