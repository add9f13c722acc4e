"""Results with long lists: whole on the wire, and made without holding everything else up."""

from __future__ import annotations

import asyncio
import json

import msgspec
import pytest

from gemini_companion.protocol.calls import SLICE, Calls
from tests.support.patience import PATIENCE


class Page(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A result as handlers give it."""

    long_list: tuple[dict[str, object], ...]
    cursor: str | None = None


class Answers:
    """Takes bodies."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.arrived = asyncio.Event()

    def send(self, body: bytes) -> None:
        self.bodies.append(body)
        self.arrived.set()


@pytest.mark.parametrize("count", [0, 1, SLICE, SLICE + 1, 10 * SLICE, 10 * SLICE + 1])
async def test_a_list_of_any_length_is_the_same_on_the_wire(count: int) -> None:
    page = Page(long_list=tuple({"text": f"hé 😀 \ud83d {number}"} for number in range(count)), cursor="next")
    answers = Answers()

    async def handle() -> Page:
        return page

    Calls(answers.send).start(1, "page", handle)
    async with asyncio.timeout(PATIENCE):
        await answers.arrived.wait()
    result = json.loads(answers.bodies[0])["result"]
    assert result == {"longList": [{"text": f"hé 😀 \\ud83d {number}"} for number in range(count)], "cursor": "next"}


async def test_others_get_their_turn_while_a_long_list_is_made_ready() -> None:
    answers, turns = Answers(), 0

    async def handle() -> Page:
        return Page(long_list=tuple({"number": number} for number in range(50 * SLICE)))

    Calls(answers.send).start(1, "page", handle)
    async with asyncio.timeout(PATIENCE):
        while not answers.bodies:
            turns += 1
            await asyncio.sleep(0)
    assert turns >= 50


async def test_a_cancel_that_comes_while_a_result_is_made_ready_comes_too_late_for_it() -> None:
    answers = Answers()
    calls = Calls(answers.send)
    handled = asyncio.Event()

    async def handle() -> Page:
        handled.set()
        return Page(long_list=tuple({"number": number} for number in range(5 * SLICE)))

    calls.start(1, "page", handle)
    async with asyncio.timeout(PATIENCE):
        await handled.wait()
        assert not answers.bodies
        calls.cancel(1)
        await answers.arrived.wait()
    assert len(json.loads(answers.bodies[0])["result"]["longList"]) == 5 * SLICE
