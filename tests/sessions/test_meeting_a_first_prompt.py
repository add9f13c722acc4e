"""What comes right behind the first prompt of a process, while what answers prompts is being loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled
from gemini_companion.sessions.compression_events import CompressionStarted
from gemini_companion.sessions.events import TurnStarted
from gemini_companion.sessions.late_turns import LateTurns
from gemini_companion.sessions.transcript.pages import history_page
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE, until_in
from tests.support.sessions import Studio


@pytest.fixture
def loading(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """The first loading waits for it."""
    loaded = asyncio.Event()

    async def load(_module: str) -> None:
        await loaded.wait()

    monkeypatch.setattr("gemini_companion.sessions.late_turns.load", load)
    return loaded


async def behind(studio: Studio, loading: asyncio.Event, request: Callable[[], Awaitable[Any]]) -> Sequence[Any]:
    """What a first prompt and a request come to that are read at once."""
    prompt = asyncio.create_task(studio.chat("first"))
    await until_in(LateTurns.start)
    other = asyncio.ensure_future(request())
    for _ in range(20):  # as far as they come without it
        await asyncio.sleep(0)
    loading.set()
    async with asyncio.timeout(PATIENCE):
        return await asyncio.gather(prompt, other, return_exceptions=True)


async def test_a_cancel_stops_it_and_the_transcript_has_it(studio: Studio, loading: asyncio.Event) -> None:
    session = await studio.session()
    answer, cancelled = await behind(studio, loading, lambda: studio.app.cancel(studio.client, None))
    assert cancelled.cancelled
    assert isinstance(answer, Cancelled)
    assert studio.model.requests == []
    page = await history_page(session, "transcript", cursor=None, limit=None)
    assert [content.outcome for content in page.contents] == ["cancelled"]


async def test_a_deletion_of_its_chat_begins_no_turn(studio: Studio, loading: asyncio.Event) -> None:
    session = await studio.session()
    answer, _ = await behind(studio, loading, lambda: studio.app.delete(session.session_id))
    assert isinstance(answer, Cancelled)
    assert studio.heard.of(TurnStarted) == []


@pytest.mark.parametrize("by", ["request", "slash command"])
async def test_a_compression_that_is_asked_for_behind_it_is_not_begun_before_it(
    studio: Studio, loading: asyncio.Event, by: str
) -> None:
    await studio.load(dialogue(2))
    await behind(studio, loading, studio.compress if by == "request" else lambda: studio.chat("/compress"))
    kinds = [type(event) for event in studio.heard.events if isinstance(event, TurnStarted | CompressionStarted)]
    assert kinds[0] is TurnStarted


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
async def test_one_whose_request_is_cancelled_meanwhile_stands_in_the_transcript(
    studio: Studio, loading: asyncio.Event, steps: int
) -> None:
    prompt = asyncio.create_task(studio.chat("first"))
    for _ in range(steps):
        await asyncio.sleep(0)
    prompt.cancel()
    loading.set()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(asyncio.CancelledError):
            await prompt
    page = await history_page(await studio.session(), "transcript", cursor=None, limit=None)
    assert [content.outcome for content in page.contents] == ["cancelled"]
    assert studio.model.requests == []
