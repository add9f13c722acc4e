"""Bounds of what a remote server sends: in all, and of one event where it may go on for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.mcp import remote
from gemini_companion.adapters.mcp.remote import BoundedBody, TooMuch

BOUND = 40


class Sent:
    """A body that comes in these pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


async def read(pieces: list[bytes], *, is_stream: bool) -> bytes | None:
    """What arrives; `None` where it was too much."""
    try:
        return b"".join([piece async for piece in BoundedBody(Sent(pieces), is_stream)])
    except TooMuch:
        return None


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_LINE", BOUND)


async def test_an_event_that_never_ends_is_cut_off_however_slowly_it_comes() -> None:
    assert await read([b"data: a\n"] * 100, is_stream=True) is None
    assert await read([b"x"] * 100, is_stream=True) is None


async def test_a_stream_of_small_events_goes_on() -> None:
    for end in (b"\n\n", b"\r\r", b"\r\n\r\n"):
        assert await read([b"data: a", end] * 100, is_stream=True) == (b"data: a" + end) * 100


async def test_a_body_that_is_no_stream_is_bounded_in_all() -> None:
    assert await read([b"\n\n"] * 21, is_stream=False) is None
    assert await read([b"\n\n"] * 20, is_stream=False) == b"\n\n" * 20


@given(st.lists(st.integers(0, BOUND + 5), max_size=6), st.lists(st.integers(1, 7), min_size=1, max_size=9))
async def test_where_the_pieces_are_cut_does_not_matter(sizes: list[int], cuts: list[int]) -> None:
    whole = b"".join(b"x" * size + b"\r\n\r\n" for size in sizes)
    pieces, at = [], 0
    while at < len(whole):
        size = cuts[len(pieces) % len(cuts)]
        pieces.append(whole[at : at + size])
        at += size
    fits = all(size + 8 <= BOUND for size in sizes)
    too_much = any(size > BOUND for size in sizes)
    read_back = await read(pieces, is_stream=True)
    if fits:
        assert read_back == whole
    if too_much:
        assert read_back is None
