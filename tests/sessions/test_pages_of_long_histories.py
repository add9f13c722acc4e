"""A page of a history costs what is on it, however long the history is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import pytest

from gemini_companion.engine.history.content import Content
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.transcript.results import HistoryPage
from tests.support.conversations import dialogue
from tests.support.sessions import Studio

LIMIT = 10


async def steps_of_a_page(
    session: Session, view: Literal["model", "transcript"], cursor: str
) -> tuple[int, HistoryPage]:
    """How many instructions of Python's machine a page takes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        page = await history_page(session, view, cursor=cursor, limit=LIMIT)
    finally:
        sys.settrace(before)
    return count, page


async def with_contents(folder: Path, count: int) -> Session:
    folder.mkdir()
    contents: list[Content] = dialogue(count // 2, words=20)
    studio = Studio(folder)
    session = await studio.load(contents)
    session.history.curated()
    return session


@pytest.mark.parametrize("view", ["model", "transcript"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
async def test_a_page_of_a_long_history_takes_as_many_steps_as_one_of_a_short(
    tmp_path: Path, view: Literal["model", "transcript"], share: float
) -> None:
    steps: dict[int, int] = {}
    for count in (200, 4_000):
        session = await with_contents(tmp_path / str(count), count)
        epoch = session.history.epoch if view == "model" else 0
        start = round(count * share / 2) * 2
        steps[count], page = await steps_of_a_page(session, view, f"{epoch}.{start}")
        assert len(page.contents) == LIMIT
        assert page.contents[0].seq > start
    assert steps[200] > 100
    assert steps[4_000] <= steps[200] + 20


async def test_pages_put_together_are_the_whole_transcript(tmp_path: Path) -> None:
    session = await with_contents(tmp_path / "one", 46)
    whole = await history_page(session, "transcript", cursor=None, limit=None)
    listed, cursor = list[Any](), None
    while True:
        page = await history_page(session, "transcript", cursor=cursor, limit=LIMIT)
        listed += page.contents
        cursor = page.next_cursor
        if cursor is None:
            break
    assert tuple(listed) == whole.contents
    assert len(listed) == 46


@pytest.mark.parametrize("view", ["model", "transcript"])
async def test_pages_from_the_end_are_the_same_contents_and_take_no_more_steps(
    tmp_path: Path, view: Literal["model", "transcript"]
) -> None:
    session = await with_contents(tmp_path / "one", 46)
    whole = await history_page(session, view, cursor=None, limit=None)
    assert await history_page(session, view, cursor=None, limit=None, newest_first=True) == whole
    listed, cursor = list[Any](), None
    while True:
        page = await history_page(session, view, cursor=cursor, limit=LIMIT, newest_first=True)
        listed[:0] = page.contents
        cursor = page.next_cursor
        if cursor is None:
            break
    assert tuple(listed) == whole.contents


async def test_what_is_said_meanwhile_moves_no_page_from_the_end(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.load(dialogue(23, words=20))
    whole = await history_page(session, "transcript", cursor=None, limit=None)
    first = await history_page(session, "transcript", cursor=None, limit=LIMIT, newest_first=True)
    assert first.contents == whole.contents[-LIMIT:]
    await studio.chat("Go on")
    assert len(session.transcript) > len(whole.contents)
    second = await history_page(session, "transcript", cursor=first.next_cursor, limit=LIMIT, newest_first=True)
    assert second.contents == whole.contents[-2 * LIMIT : -LIMIT]


async def test_a_page_from_the_end_beyond_all_contents_is_empty(tmp_path: Path) -> None:
    session = await with_contents(tmp_path / "one", 46)
    page = await history_page(session, "transcript", cursor="0.0", limit=LIMIT, newest_first=True)
    assert (page.contents, page.next_cursor) == ((), None)
    page = await history_page(session, "transcript", cursor="0.9999", limit=LIMIT, newest_first=True)
    assert len(page.contents) == LIMIT
