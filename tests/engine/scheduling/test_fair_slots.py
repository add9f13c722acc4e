"""Who is served next where only so many may hold a slot: limits, turns, and slots that are given back at any time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gemini_companion.engine.scheduling.fair_slots import PATIENCE, FairSlots, Rank, Slot

RANKS = st.sampled_from(("first", "later"))


def drained(slots: FairSlots, waiting: list[Slot]) -> list[Slot]:
    """End what is held, one after the other; the slots in the order in which they were served from here on."""
    served: list[Slot] = []
    while held := [slot for slot in waiting if slot.is_held]:
        if served[-len(held) :] != held:
            served += [slot for slot in held if slot not in served]
        slots.end(held[0])
    return served


def keys_in_order(asked: str, limit: int = 1) -> str:
    """The keys of those who were served, for keys asked for in this order while one slot was taken."""
    slots = FairSlots(limit)
    taken = [slots.ask("taken") for _ in range(limit)]
    waiting = [slots.ask(key) for key in asked]
    for slot in taken:
        slots.end(slot)
    return "".join(slot.key for slot in drained(slots, waiting))


def test_a_free_slot_is_held_at_once() -> None:
    slots = FairSlots(2)
    assert slots.ask("a").is_held
    assert slots.ask("b").is_held
    assert not slots.ask("c").is_held
    assert (slots.held, slots.waiting) == (2, 1)


def test_keys_take_turns_however_many_of_one_wait() -> None:
    assert keys_in_order("aaaab") == "abaaa"
    assert keys_in_order("aaabbbccc") == "abcabcabc"


def test_of_one_key_what_came_first_is_served_first() -> None:
    slots = FairSlots(1)
    taken = slots.ask("a")
    waiting = [slots.ask("a") for _ in range(4)]
    slots.end(taken)
    assert drained(slots, waiting) == waiting


def test_what_rises_while_it_waits_goes_behind_what_came_first_and_before_the_rest() -> None:
    slots = FairSlots(2)
    taken, other = slots.ask("taken"), slots.ask("other", "later")
    waiting = [slots.ask("a", "later"), slots.ask("b", "later"), slots.ask("c", "first")]
    slots.rise(waiting[1])
    slots.end(taken)
    assert [slot.is_held for slot in waiting] == [False, False, True]
    slots.end(waiting[2])
    assert [slot.is_held for slot in waiting] == [False, True, False]
    slots.rise(other)  # it has its slot, which counts as what it was asked for
    slots.end(other)
    assert waiting[0].is_held


def test_what_somebody_waits_for_goes_before_what_came_earlier_unseen() -> None:
    slots = FairSlots(1)
    taken = slots.ask("a")
    unseen, seen = slots.ask("a", "later"), slots.ask("b", "first")
    slots.end(taken)
    assert (seen.is_held, unseen.is_held) == (True, False)
    slots.end(seen)
    assert unseen.is_held


def test_what_waits_unseen_has_its_turn_after_so_many_others() -> None:
    slots = FairSlots(1)
    taken = slots.ask("a")
    unseen = slots.ask("a", "later")
    seen = [slots.ask(str(number)) for number in range(3 * PATIENCE)]
    slots.end(taken)
    served = drained(slots, [unseen, *seen])
    assert served.index(unseen) == PATIENCE


def test_one_slot_is_never_given_to_what_works_unseen() -> None:
    slots = FairSlots(3)
    unseen = [slots.ask(str(number), "later") for number in range(5)]
    assert [slot.is_held for slot in unseen] == [True, True, False, False, False]
    assert slots.ask("a").is_held, "the last one waits for what somebody waits for"


def test_the_only_slot_is_given_to_what_works_unseen_too() -> None:
    assert FairSlots(1).ask("a", "later").is_held


def test_a_limit_that_rises_counts_at_once_and_one_that_falls_with_the_next_grant() -> None:
    slots = FairSlots(1)
    asked = [slots.ask(str(number)) for number in range(5)]
    slots.set_limit(3)
    assert [slot.is_held for slot in asked] == [True, True, True, False, False]
    slots.set_limit(1)
    assert slots.held == 3, "nobody loses a slot"
    slots.end(asked[0])
    slots.end(asked[1])
    assert not asked[3].is_held
    slots.end(asked[2])
    assert asked[3].is_held
    assert not asked[4].is_held


def test_a_limit_below_one_is_one() -> None:
    slots = FairSlots(0)
    assert slots.limit == 1
    slots.set_limit(-3)
    assert slots.ask("a").is_held
    assert not slots.ask("b").is_held


def test_a_slot_that_is_given_back_twice_counts_once() -> None:
    slots = FairSlots(1)
    slot = slots.ask("a")
    slots.end(slot)
    slots.end(slot)
    assert slots.ask("b").is_held
    assert not slots.ask("c").is_held


def test_who_waited_is_told_once_and_who_did_not_never() -> None:
    slots = FairSlots(1)
    told: list[str] = []
    at_once = slots.ask("a")
    at_once.on_held = lambda: told.append("a")
    later = slots.ask("b")
    later.on_held = lambda: told.append("b")
    slots.end(at_once)
    slots.set_limit(5)
    assert told == ["b"]


@given(asked=st.text("abcd", max_size=40), limit=st.integers(1, 4))
def test_between_two_turns_of_a_key_no_other_has_more_than_one(asked: str, limit: int) -> None:
    order = keys_in_order(asked, limit)
    assert sorted(order) == sorted(asked)
    for key in set(asked):
        own = [number for number, one in enumerate(order) if one == key]
        for this, following in pairwise(own):
            others = order[this + 1 : following]
            assert len(set(others)) == len(others), (order, key)


class AnyOrder(RuleBasedStateMachine):
    """Slots asked for, held, given back and taken back, in every order, while the limit changes."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = FairSlots(2)
        self.all: list[Slot] = []
        self.most = 2
        """The highest limit since so many were held."""

    @rule(key=st.sampled_from("abc"), rank=RANKS)
    def ask(self, key: str, rank: Rank) -> None:
        self.all.append(self.slots.ask(key, rank))

    @precondition(lambda self: self.all)
    @rule(data=st.data())
    def end_one(self, data: st.DataObject) -> None:
        slot = data.draw(st.sampled_from(self.all))
        self.slots.end(slot)
        assert not slot.is_held

    @precondition(lambda self: self.all)
    @rule(data=st.data())
    def rise(self, data: st.DataObject) -> None:
        self.slots.rise(data.draw(st.sampled_from(self.all)))

    @rule(limit=st.integers(1, 4))
    def change_limit(self, limit: int) -> None:
        self.most = max(limit, self.slots.held)
        self.slots.set_limit(limit)

    @invariant()
    def never_more_than_the_limit(self) -> None:
        self.most = max(self.slots.limit, min(self.most, self.slots.held))
        assert self.slots.held <= self.most

    @invariant()
    def what_it_counts_is_what_is_there(self) -> None:
        assert self.slots.held == sum(slot.is_held for slot in self.all)
        assert self.slots.waiting == sum(not slot.is_held and not slot.is_over for slot in self.all)

    @invariant()
    def no_slot_is_free_while_somebody_may_have_it(self) -> None:
        waiting = [slot for slot in self.all if not slot.is_held and not slot.is_over]
        if self.slots.held < self.slots.limit:
            assert all(slot.rank == "later" for slot in waiting)
            held = sum(slot.is_held and slot.rank == "later" for slot in self.all)
            assert not waiting or held >= max(1, self.slots.limit - 1)

    def teardown(self) -> None:
        """Nobody starves, and nothing is left: as long as holders go, everybody is served."""
        waiting = [slot for slot in self.all if not slot.is_over]
        served = {id(slot) for slot in waiting if slot.is_held}
        while held := [slot for slot in waiting if slot.is_held]:
            self.slots.end(held[0])
            served |= {id(slot) for slot in waiting if slot.is_held}
        assert served == {id(slot) for slot in waiting}
        assert (self.slots.held, self.slots.waiting) == (0, 0)


TestAnyOrder = AnyOrder.TestCase
