"""The newest turns of a session that nobody has loaded are those that it shows once it is."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.errors import CompanionError, ModelUnavailable, SessionNotFound
from gemini_companion.engine.history.content import Content
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.transcript.newest import newest_contents
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.transcript.results import NewestContents
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import ManualClock, Studio


async def say(studio: Studio, session_id: str) -> None:
    await studio.chat("Why is the port 8123? " * 40, session_id=session_id)


async def fail(studio: Studio, session_id: str) -> None:
    said = ModelChunk(parts=({"text": "Because of "},))
    studio.model.streams = [[said, ModelUnavailable("Gone.", retryable=False)]]
    await studio.chat("Say it again.", session_id=session_id)


async def say_anew(studio: Studio, session_id: str) -> None:
    last = (await studio.app.load(studio.client, session_id)).transcript.last_in_view
    await studio.chat("Why, then?", session_id=session_id, replaces=last)


async def compress(studio: Studio, session_id: str) -> None:
    await studio.compress(session_id=session_id)


async def take_back(studio: Studio, session_id: str) -> None:
    await undo(await studio.app.hold(studio.client, session_id), client="c")


Step = Callable[[Studio, str], Awaitable[None]]
STEPS: Final[tuple[Step, ...]] = (say, say, fail, say_anew, compress, take_back)


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[Studio]:
    made = Studio(tmp_path, store=open_store(tmp_path / "store", "project", clock=ManualClock()))
    yield made
    async with asyncio.timeout(PATIENCE):
        await made.app.close()


async def begun(studio: Studio, contents: list[Content]) -> str:
    async def begin() -> str:
        session = await studio.load(contents)
        await studio.app.new_session(studio.client)
        return session.session_id

    return await asyncio.create_task(begin())


async def let_go(studio: Studio, session_id: str) -> None:
    studio.clock.time += 3_600_000
    await studio.app.let_go_idle()
    assert studio.app.loaded(session_id) is None


async def newest(studio: Studio, session_id: str, limit: int) -> NewestContents:
    async with asyncio.timeout(PATIENCE):
        return await newest_contents(studio.services, None, session_id, limit)


@pytest.mark.parametrize("seed", range(8))
async def test_they_are_the_last_ones_of_the_whole_transcript(seed: int, studio: Studio) -> None:
    drawn = random.Random(seed)
    session_id = await begun(studio, dialogue(6))
    for _ in range(10):
        step = asyncio.create_task(drawn.choice(STEPS)(studio, session_id))  # type: ignore[arg-type]
        await asyncio.gather(step, return_exceptions=True)
        assert step.exception() is None or isinstance(step.exception(), CompanionError)
    await asyncio.create_task(let_go(studio, session_id))
    read = {limit: (await newest(studio, session_id, limit)).contents for limit in (1, 2, 3, 5, 9, 200)}
    assert studio.app.loaded(session_id) is None
    assert not studio.store.holds(session_id)
    session = await studio.app.load(studio.client, session_id)
    whole = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    assert read[200] == whole
    for limit, contents in read.items():
        assert len(contents) <= limit
        assert contents == whole[len(whole) - len(contents) :]
        turns = {content.turn_id for content in contents}
        assert [one for one in whole if one.turn_id in turns] == list(contents), "a turn is there from its beginning"
        held = await newest_contents(studio.services, session, session_id, limit)
        assert held.contents == contents, "a session that is in memory shows the same"


async def test_they_come_with_what_a_listing_says_of_the_session(studio: Studio) -> None:
    session_id = await begun(studio, dialogue(2))
    await asyncio.create_task(studio.app.rename(studio.client, session_id, "Ports"))
    await asyncio.create_task(let_go(studio, session_id))
    (listed,) = [one for one in (await studio.app.list_sessions()).sessions if one.session_id == session_id]
    told = (await newest(studio, session_id, 2)).session
    assert (told.session_id, told.title, told.turns) == (session_id, "Ports", listed.turns)


async def test_of_a_session_that_is_gone_it_is_said(studio: Studio) -> None:
    with pytest.raises(SessionNotFound):
        await newest(studio, "nothing", 5)


async def test_as_much_is_read_of_a_long_session_as_of_a_short_one(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[bytes] = []
    restored = Vaulted.restored

    def counting(self: Vaulted, connection: Any, data: Any, redacted: Any) -> bytes:
        rows.append(data)
        return restored(self, connection, data, redacted)

    counts: list[int] = []
    for turns in (40, 400):
        session_id = await begun(studio, dialogue(turns))
        await asyncio.create_task(let_go(studio, session_id))
        with monkeypatch.context() as patched:
            patched.setattr(Vaulted, "restored", counting)
            rows.clear()
            assert (await newest(studio, session_id, 20)).contents
            counts.append(len(rows))
    assert counts[0] == counts[1]


async def test_of_huge_contents_fewer_are_read(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_companion.adapters.storage.newest.MOST_BYTES", 20_000)
    session_id = await begun(studio, dialogue(40, words=400))
    await asyncio.create_task(let_go(studio, session_id))
    contents = (await newest(studio, session_id, 60)).contents
    session = await studio.app.load(studio.client, session_id)
    whole = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    assert 0 < len(contents) < 60
    assert contents == whole[-len(contents) :]
