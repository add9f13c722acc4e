"""Waiting for a slot: cancelled at any moment, holders that fail, limits that change; nothing of it is left behind."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.scheduling.fair_slots import Rank, Urgency
from gemini_companion.sessions import slots
from gemini_companion.sessions.slots import SlotGroup
from tests.support.patience import PATIENCE, until

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 3), st.sampled_from(("first", "later"))),
        st.tuples(st.just("cancel"), st.integers(0, 30), st.just("first")),
        st.tuples(st.just("limit"), st.integers(1, 4), st.just("first")),
        st.tuples(st.just("wait"), st.just(0), st.just("first")),
    ),
    max_size=60,
)


class Room:
    """Tasks that hold slots for a few steps of the loop each."""

    def __init__(self, limit: int) -> None:
        self.group = SlotGroup()
        self.group.fair.set_limit(limit)
        self.tasks: list[asyncio.Task[None]] = []
        self.inside = 0
        self.highest = limit
        """The highest limit that there was."""

    def ask(self, key: str, rank: Rank) -> None:
        self.tasks.append(asyncio.create_task(self._hold(key, rank, steps=len(self.tasks) % 4)))

    async def _hold(self, key: str, rank: Rank, *, steps: int) -> None:
        async with self.group.held(key, Urgency(rank), lambda waits: None):
            self.inside += 1
            try:
                assert self.inside <= self.highest
                for _ in range(steps):
                    await asyncio.sleep(0)
                if steps == 3:
                    raise ModelUnavailable("It failed.")
            finally:
                self.inside -= 1


@given(steps=STEPS, limit=st.integers(1, 3))
def test_whatever_is_cancelled_or_fails_no_slot_is_lost_and_everybody_else_is_served(
    steps: list[tuple[str, int, Rank]], limit: int
) -> None:
    async def story() -> None:
        room = Room(limit)
        for what, number, rank in steps:
            if what == "ask":
                room.ask(str(number), rank)
            elif what == "cancel" and room.tasks:
                room.tasks[number % len(room.tasks)].cancel()
            elif what == "limit":
                room.highest = max(room.highest, number)
                room.group.fair.set_limit(number)
            else:
                await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            ends = await asyncio.gather(*room.tasks, return_exceptions=True)
        assert {type(end) for end in ends} <= {type(None), asyncio.CancelledError, ModelUnavailable}
        assert (room.group.fair.held, room.group.fair.waiting, room.inside) == (0, 0, 0)

    asyncio.run(story())


async def test_who_is_cancelled_in_the_moment_of_the_grant_hands_it_on() -> None:
    group = SlotGroup()
    taken = group.fair.ask("a")
    served: list[str] = []

    async def hold(key: str) -> None:
        async with group.held(key, Urgency(), lambda waits: None):
            served.append(key)

    doomed = asyncio.create_task(hold("b"))
    await until(lambda: group.fair.waiting == 1)
    other = asyncio.create_task(hold("c"))
    await until(lambda: group.fair.waiting == 2)
    group.fair.end(taken)
    doomed.cancel()  # it has been given the slot, and has not run since
    async with asyncio.timeout(PATIENCE):
        await other
    with pytest.raises(asyncio.CancelledError):
        await doomed
    assert served == ["c"]
    assert group.fair.held == 0


async def test_who_waits_only_a_moment_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "MOMENT", PATIENCE)
    group = SlotGroup()
    taken = group.fair.ask("a")
    told: list[bool] = []

    async def hold() -> None:
        async with group.held("b", Urgency(), told.append):
            pass

    task = asyncio.create_task(hold())
    await until(lambda: group.fair.waiting == 1)
    group.fair.end(taken)
    async with asyncio.timeout(PATIENCE):
        await task
    assert told == []
